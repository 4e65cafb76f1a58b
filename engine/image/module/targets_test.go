package module

import (
	"bufio"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"gotap/arch"
	"gotap/arch/x86"
	"gotap/engine/image/symtab"
	"gotap/engine/testenv"
)

// jumps is the architecture whose windows are tested.
var jumps = x86.New64().(arch.BranchArch)

// bodies are the binaries whose windows are checked. Patterns without a match are skipped; quick runs use the first
// ones, short runs the very first, GOTAP_LONG=1 all.
var bodies = []struct {
	pattern string
	quick   bool
}{
	{"/lib/x86_64-linux-gnu/libc.so.6", true},
	{"/usr/lib/x86_64-linux-gnu/libstdc++.so.6", true},
	{"/usr/lib/x86_64-linux-gnu/libcrypto.so.3", false},
	{"/usr/bin/python3.*[0-9]", false},
	{"/usr/local/go/bin/go", false},
}

// eachBody runs a test on each of the binaries, or in a quick run on the first ones if quick is set.
func eachBody(t *testing.T, quick bool, check func(t *testing.T, f *File)) {
	for i, b := range bodies {
		files, _ := filepath.Glob(b.pattern)
		if len(files) == 0 || i > 0 && testing.Short() || quick && !b.quick && os.Getenv("GOTAP_LONG") == "" {
			continue
		}
		t.Run(filepath.Base(files[0]), func(t *testing.T) {
			if f := open(t, files[0]); f.Machine == elf.EM_X86_64 {
				check(t, f)
			}
		})
	}
}

// functions returns the functions of a file by symbols, or by call-frame information where there are more.
func functions(f *File) []Range {
	var all []Range
	for _, fn := range f.Funcs() {
		if fn.Size > 0 && !fn.Estimated {
			all = append(all, Range{fn.Addr, fn.End()})
		}
	}
	if frames := f.Frames(); len(frames) > len(all) {
		return frames
	}
	return all
}

// TestNothingLeadsIntoWindows compares the windows at the entries, the returns and many other instructions of all
// functions with objdump's listing: their instructions are those of the listing, and no branch of it leads into one.
func TestNothingLeadsIntoWindows(t *testing.T) {
	testenv.Require(t, testenv.Objdump)
	eachBody(t, true, func(t *testing.T, f *File) {
		inside, starts := map[uint64]uint64{}, map[uint64]bool{}
		windows := 0
		for i, addr := range someInstructions(f) {
			w, err := f.Windows(jumps).At(addr)
			if err != nil && i%2 == 0 {
				w, _, err = f.Windows(jumps).Around(addr)
			}
			if err != nil {
				continue
			}
			windows++
			for at := w.Addr + 1; at < w.End(); at++ {
				inside[at] = w.Addr
			}
			for _, in := range w.Insns {
				starts[in.Addr] = true
			}
		}
		branches, wrong := 0, 0
		listing(t, f.Path, func(addr uint64, text string) {
			delete(starts, addr)
			target := branchTarget(text)
			if target == 0 {
				return
			}
			branches++
			if w, ok := inside[target]; ok {
				if wrong++; wrong < 20 {
					t.Errorf("the branch at %#x leads to %#x, into the window at %#x", addr, target, w)
				}
			}
		})
		t.Logf("%d windows, %d branches; objdump does not list %d of their instructions", windows, branches, len(starts))
		if windows < 1000 || branches < 1000 || len(starts) > windows/100 {
			t.Error("too few windows or branches, or the instructions differ")
		}
	})
}

// someInstructions returns the entries and returns of all functions, and every seventh other instruction.
func someInstructions(f *File) []uint64 {
	var addrs []uint64
	for _, r := range functions(f) {
		code, err := f.Code(r.Start, int(r.End-r.Start))
		if err != nil {
			continue
		}
		n := 0
		arch.Sweep(jumps, code, r.Start, func(in arch.Insn) error {
			if n%7 == 0 || in.Control == arch.Return {
				addrs = append(addrs, in.Addr)
			}
			n++
			return nil
		})
	}
	return addrs
}

// listing calls visit for each instruction that objdump lists.
func listing(t *testing.T, path string, visit func(addr uint64, text string)) {
	t.Helper()
	cmd := exec.Command("objdump", "-d", "-w", "--no-show-raw-insn", path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		place, text, ok := strings.Cut(lines.Text(), ":\t")
		addr, err := strconv.ParseUint(strings.TrimSpace(place), 16, 64)
		if ok && err == nil {
			visit(addr, text)
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
}

// branchTarget returns the target of a direct branch that objdump lists ("jne    26000 <f+0x20>"), or 0.
func branchTarget(text string) uint64 {
	text, _, _ = strings.Cut(text, "<")
	words := strings.Fields(text)
	if len(words) < 2 {
		return 0
	}
	for _, w := range words[:len(words)-1] {
		if w[0] == 'j' || strings.HasPrefix(w, "call") || strings.HasPrefix(w, "loop") || w == "xbegin" {
			target, _ := strconv.ParseUint(strings.TrimPrefix(words[len(words)-1], "0x"), 16, 64)
			return target
		}
	}
	return 0
}

// TestLandingPads: where exceptions are handled, an instruction starts, as objdump lists them.
func TestLandingPads(t *testing.T) {
	testenv.Require(t, testenv.Objdump, testenv.AMD64)
	f := open(t, library(t, "libstdc++.so.6"))
	pads := map[uint64]bool{}
	for _, addr := range f.Windows(jumps).Targets().pads {
		pads[addr] = true
	}
	n := len(pads)
	listing(t, f.Path, func(addr uint64, _ string) { delete(pads, addr) })
	t.Logf("%d landing pads", n)
	if n < 1000 || len(pads) > 0 {
		t.Errorf("%d landing pads, %d of which are no instruction: %v", n, len(pads), pads)
	}
}

// TestWindowCoverage lists how many entries of functions that have a name, and how many returns have windows, and why
// the other entries have none.
func TestWindowCoverage(t *testing.T) {
	eachBody(t, false, func(t *testing.T, f *File) {
		var c coverage
		for i := range f.Funcs() {
			if fn := &f.Funcs()[i]; fn.Kind == symtab.KindFunc && fn.Size > 0 && fn.IsEntry() {
				c.entry(f, fn.Addr)
			}
		}
		for _, r := range functions(f) {
			c.exits(f, r)
		}
		c.report(t)
		if c.refused*50 > c.one+c.several {
			t.Error("more than 2 % of the entries are refused")
		}
	})
}

// coverage counts windows.
type coverage struct {
	one, several, refused int // entries whose windows have one instruction or several
	returns, around       int // returns, and those that have a window
	reasons               map[string]int
}

func (c *coverage) entry(f *File, addr uint64) {
	w, err := f.Windows(jumps).At(addr)
	switch {
	case err != nil:
		c.refused++
		if c.reasons == nil {
			c.reasons = map[string]int{}
		}
		c.reasons[general(err)]++
	case len(w.Insns) == 1:
		c.one++
	default:
		c.several++
	}
}

func (c *coverage) exits(f *File, r Range) {
	code, err := f.Code(r.Start, int(r.End-r.Start))
	if err != nil {
		return
	}
	arch.Sweep(jumps, code, r.Start, func(in arch.Insn) error {
		if in.Control == arch.Return {
			c.returns++
			if _, _, err := f.Windows(jumps).Around(in.Addr); err == nil {
				c.around++
			}
		}
		return nil
	})
}

func (c *coverage) report(t *testing.T) {
	n := c.one + c.several + c.refused
	percent := func(of, all int) float64 { return 100 * float64(of) / float64(max(all, 1)) }
	t.Logf("%d entries: one instruction %.1f %%, several %.1f %%, refused %.1f %%; %d returns: %.1f %%",
		n, percent(c.one, n), percent(c.several, n), percent(c.refused, n), c.returns, percent(c.around, c.returns))
	for reason, n := range c.reasons {
		t.Logf("%5d: %s", n, reason)
	}
}

// general returns the reason of a refusal without names and addresses.
func general(err error) string {
	reason := err.(*arch.WindowError).Reason
	for _, part := range []string{" begins in", " leads into"} {
		if i := strings.Index(reason, part); i >= 0 {
			return "something" + reason[i:]
		}
	}
	return reason
}

// BenchmarkTargets searches files for branches; the time is that of the first window of a file.
func BenchmarkTargets(b *testing.B) {
	for _, body := range bodies {
		files, _ := filepath.Glob(body.pattern)
		if len(files) == 0 {
			continue
		}
		b.Run(filepath.Base(files[0]), func(b *testing.B) {
			f, err := Open(files[0])
			if err != nil {
				b.Fatal(err)
			}
			defer f.Close()
			(&targetReader{File: f}).starts()
			size := uint64(0)
			for _, r := range f.Text() {
				size += r.End - r.Start
			}
			b.SetBytes(int64(size))
			for b.Loop() {
				if t := f.Windows(jumps).readTargets(); t.err != nil {
					b.Fatal(t.err)
				}
			}
		})
	}
}
