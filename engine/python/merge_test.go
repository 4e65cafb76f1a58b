package python

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// interpreters lists the Python interpreters of this machine.
func interpreters() []string {
	home, _ := os.UserHomeDir()
	all, _ := filepath.Glob(filepath.Join(home, ".pyenv/versions/3.*/bin/python3"))
	if _, err := os.Stat("/usr/bin/python3"); err == nil {
		all = append(all, "/usr/bin/python3")
	}
	return all
}

// merged describes what Merge emits; frames 90 and above are hidden.
func merged(in *Interpreter, c Native, most int, calls ...Call) string {
	var all []string
	show := func(call Call) (shown []uint64) {
		for _, f := range call.Frames {
			if f < 90 {
				shown = append(shown, f)
			}
		}
		return shown
	}
	Merge(in, c, calls, show, func(n uint64) bool {
		all = append(all, fmt.Sprint(n))
		return len(all) < most
	})
	return strings.Join(all, " ")
}

// TestMerge: Python frames are in the place of the C frame that holds the address of their call.
func TestMerge(t *testing.T) {
	in := &Interpreter{layout: layouts[12], minor: 12}
	c := Native{PCs: []uint64{1001, 1002, 1003, 1004, 1005}, CFAs: []uint64{110, 200, 300, 400, 0}, SP: 100}
	two := []Call{{At: 150, Frames: []uint64{1, 2}}, {At: 399, Frames: []uint64{3}}}
	for _, one := range []struct {
		got, want string
	}{
		{merged(in, c, 99, two...), "1001 1 2 1003 3 1005"},
		{merged(in, c, 3, two...), "1001 1 2"},
		{merged(in, c, 99), "1001 1002 1003 1004 1005"},
		{merged(in, c, 99, Call{At: 150, Frames: []uint64{90, 91}}, two[1]), "1001 1002 1003 3 1005"}, // nothing to show: the C frame stays
		{merged(in, c, 99, two[0], Call{At: 9000, Frames: []uint64{4}}), "1001 1 2 1003 1004 1005 4"}, // the C stack ended early
		{merged(in, Native{PCs: c.PCs, CFAs: c.CFAs, SP: 100, Cut: true}, 99, two[0], Call{At: 9000, Frames: []uint64{4}}), "1001 1 2 1003 1004 1005"},
		{merged(in, c, 99, Call{At: 210, Frames: []uint64{5}}, Call{At: 220, Frames: []uint64{6}}), "1001 1002 5 6 1004 1005"},
	} {
		if one.got != one.want {
			t.Errorf("%s, not %s", one.got, one.want)
		}
	}
	nine := &Interpreter{layout: layouts[9], minor: 9, Eval: 2000, Size: 100}
	c.PCs = []uint64{2050, 7, 2100, 8, 2000}
	if got, want := merged(nine, c, 99, Call{Frames: []uint64{1}}, Call{Frames: []uint64{2}}), "1 7 2 8 2000"; got != want {
		t.Errorf("3.9: %s, not %s", got, want)
	}
	c.PCs[0] = 2000 // it has just been called
	if got, want := merged(nine, c, 99, Call{Frames: []uint64{1}}), "2000 7 1 8 2000"; got != want {
		t.Errorf("3.9: %s, not %s", got, want)
	}
}

// garbage is memory in which each word points to a word near by, or that cannot be read.
type garbage uint64

func (g garbage) ReadMemory(addr uint64, p []byte) error {
	if addr > math.MaxUint32 || addr%13 == 5 {
		return os.ErrInvalid
	}
	for i := range p {
		p[i] = 0
		if i%8 == 1 {
			p[i] = byte((addr + uint64(i)) * uint64(g) >> 3)
		}
	}
	return nil
}

// TestGarbage: whatever a process has in its memory, reading ends and shows no frame of objects of other types.
func TestGarbage(t *testing.T) {
	for minor, l := range layouts {
		for seed := range 20 {
			in := &Interpreter{layout: l, minor: minor, runtime: 0x1000}
			in.types.code, in.types.text, in.types.bytes = 1, 1, 1 // no word of this memory is odd
			var r Reader
			r.Begin(in, garbage(seed))
			for _, call := range r.Calls(0) {
				for _, f := range call.Frames {
					if got, ok := r.Frame(f); ok {
						t.Errorf("3.%d: %+v", minor, got)
					}
				}
			}
		}
	}
}
