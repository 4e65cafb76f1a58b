package jit

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLaterLines: of all lines that cover an address the one that was written last counts, as a plain search from the
// end finds it; also when the file is read in pieces.
func TestLaterLines(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for round := range 200 {
		path := filepath.Join(t.TempDir(), "map")
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		type piece struct {
			start, end uint64
			name       string
		}
		var all []piece
		s := New(0).perf
		s.file = f
		for i := range 1 + r.IntN(30) {
			start := uint64(r.IntN(60))
			one := piece{start, start + 1 + uint64(r.IntN(20)), fmt.Sprintf("f%d of %d", i, round)}
			all = append(all, one)
			fmt.Fprintf(f, "%x %x %s\n", one.start, one.end-one.start, one.name)
			if r.IntN(5) == 0 {
				s.update(true)
				s.table.find(uint64(r.IntN(80)))
			}
		}
		s.update(true)
		for addr := range uint64(90) {
			want := ""
			for _, one := range all {
				if addr >= one.start && addr < one.end {
					want = fmt.Sprintf("%s+%d", one.name, addr-one.start)
				}
			}
			got := ""
			if n, ok := s.find(addr); ok {
				got = fmt.Sprintf("%s+%d", n.Func, n.Offset)
			}
			if got != want {
				t.Fatalf("round %d: %d is %q, not %q", round, addr, got, want)
			}
		}
		f.Close()
	}
}

// TestBrokenLines: what makes no sense is left out, and what follows is read.
func TestBrokenLines(t *testing.T) {
	long := strings.Repeat("n", 3*chunk)
	text := "zz 10 bad\n100 good\n\n200 0 empty\nffffffffffffffff 10 around\n300 10 py::f:/a b.py\n0x400 0x10 with prefix\n" +
		"500 10 \x1b[2Jx\xff\n600 10 " + long + "\n700 10 behind\n800 10 unfinished"
	var table table
	var m perfMap
	m.read(&table, strings.NewReader(text), int64(len(text)))
	var got []string
	for _, c := range table.all {
		got = append(got, fmt.Sprintf("%x-%x %s", c.start, c.end, c.name))
	}
	want := "300-310 py::f:/a b.py|400-410 with prefix|500-510 ?[2Jx?|700-710 behind"
	if all := strings.Join(got, "|"); all != want {
		t.Errorf("the map has %.300s\nnot %s", all, want)
	}
}

// TestBegunAnew: a file that has become shorter is another one.
func TestBegunAnew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "map")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("100 10 first one\n200 10 second\n")
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := New(0).perf
	s.file = f
	if n, ok := s.find(0x108); !ok || n.Func != "first one" || n.Offset != 8 {
		t.Fatalf("0x108 is %+v", n)
	}
	write("200 10 third\n")
	if n, ok := s.find(0x300); ok {
		t.Errorf("0x300 is %+v", n)
	}
	if n, ok := s.find(0x108); ok {
		t.Errorf("0x108 is %+v still", n)
	}
	if n, _ := s.find(0x208); n.Func != "third" {
		t.Errorf("0x208 is %+v", n)
	}
}

// TestBelieved: links, pipes and files of other users are not read.
func TestBelieved(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(dir, "real"), filepath.Join(dir, "link")
	if err := os.WriteFile(real, []byte("100 10 one\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	opens := func(path string) bool {
		var s source
		s.open(os.Getpid(), path)
		defer s.close()
		return s.file != nil
	}
	if !opens(real) || opens(link) || opens(dir) || opens("/dev/null") || opens(filepath.Join(dir, "none")) {
		t.Errorf("real %v, link %v, folder %v, device %v", opens(real), opens(link), opens(dir), opens("/dev/null"))
	}
	if os.Getuid() != 0 {
		return // only root can make files of others
	}
	if err := os.Chown(real, 12345, 12345); err != nil {
		t.Fatal(err)
	}
	if opens(real) {
		t.Error("a file of a stranger is read")
	}
}
