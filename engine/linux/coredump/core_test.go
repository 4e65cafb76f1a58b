package coredump

import (
	"bytes"
	"debug/elf"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gotap/engine/image/module"
	"gotap/engine/testenv"
)

// own is this process, whose memory it reads itself; its one thread has registers that count.
func own(t *testing.T, word int) *Process {
	t.Helper()
	p, err := Describe(os.Getpid(), word)
	if err != nil {
		t.Fatal(err)
	}
	mem, err := os.Open("/proc/self/mem")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { mem.Close() })
	p.Read = func(addr uint64, buf []byte) int { n, _ := mem.ReadAt(buf, int64(addr)); return n }
	thread := Thread{Tid: os.Getpid(), Float: make([]byte, 512)}
	for i := range thread.Regs {
		thread.Regs[i] = uint64(i)
	}
	p.Threads = []Thread{thread}
	return p
}

func TestDescribe(t *testing.T) {
	p := own(t, 8)
	if p.Info.Ppid != os.Getppid() || p.Info.UID != os.Getuid() || !strings.HasPrefix(filepath.Base(os.Args[0]), p.Info.Name) {
		t.Errorf("%+v", p.Info)
	}
	if !strings.Contains(p.Info.Args, filepath.Base(os.Args[0])) || len(p.Auxv)%16 != 0 || len(p.Auxv) == 0 {
		t.Errorf("arguments %q, %d bytes of auxiliary vector", p.Info.Args, len(p.Auxv))
	}
	for _, m := range p.Mappings {
		if m.Path == "[vvar]" && m.Dump {
			t.Error("memory of the kernel's clock is to be dumped")
		}
	}
	if _, err := Describe(-1, 8); err == nil {
		t.Error("a process that cannot be is described")
	}
}

// TestWrite reads a core of this process again: the data it marked, in the right place, and nothing else wrong with it.
func TestWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "core")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := Write(f, own(t, 8)); err != nil {
		t.Fatal(err)
	}
	e, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if e.Type != elf.ET_CORE || e.Machine != elf.EM_X86_64 || e.Progs[0].Type != elf.PT_NOTE {
		t.Errorf("%+v", e.FileHeader)
	}
	marker := []byte("read-only data that the core must hold")
	found := false
	for _, p := range e.Progs[1:] {
		data := make([]byte, min(p.Filesz, 64<<20))
		p.ReadAt(data, 0)
		found = found || bytes.Contains(data, marker)
	}
	if !found {
		t.Error("the program's constants are missing")
	}
}

// TestNotes has readelf look at the notes of both kinds of processes: it checks sizes and decodes the file table.
func TestNotes(t *testing.T) {
	testenv.Require(t, testenv.Readelf)
	for word, machine := range map[int]string{8: "X86-64", 4: "80386"} {
		p := own(t, word)
		p.Mappings = []Mapping{{Mapping: module.Mapping{Start: 0x10000, End: 0x12000, Offset: 0x3000, Inode: 1, Path: "/a file", Read: true}}}
		f, err := os.Create(filepath.Join(t.TempDir(), "core"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Write(f, p); err != nil {
			t.Fatal(err)
		}
		f.Close()
		out, err := exec.Command("readelf", "-W", "-h", "-l", "-n", f.Name()).CombinedOutput()
		if err != nil || bytes.Contains(out, []byte("Warning")) {
			t.Fatalf("%v\n%s", err, out)
		}
		for _, pattern := range []string{machine, "CORE \\(Core file\\)", "NT_PRSTATUS", "NT_PRPSINFO", "NT_AUXV",
			`0x0*10000\s+0x0*12000\s+0x0*3\s+/a file|Cannot decode 64-bit note`, `LOAD .* 0x0*10000 .* 0x0*2000 .*R`} {
			if !regexp.MustCompile(pattern).Match(out) {
				t.Errorf("%d bytes a word: no %s in\n%s", word, pattern, out)
			}
		}
	}
}

// TestSizes compares the structures with what sizeof says of the kernel's.
func TestSizes(t *testing.T) {
	for word, sizes := range map[int][2]int{8: {336, 136}, 4: {144, 124}} {
		n := notes{p: own(t, word)}
		if got := [2]int{len(n.status(&n.p.Threads[0])), len(n.info())}; got != sizes {
			t.Errorf("%d bytes a word: prstatus and prpsinfo have %v bytes, not %v", word, got, sizes)
		}
	}
	if n := len(fsave(make([]byte, 512))); n != 108 {
		t.Errorf("FSAVE image of %d bytes", n)
	}
}

func TestParseStat(t *testing.T) {
	var i Info
	if err := i.parse("7 (a) (b) S 1 2 3 0 -1 4194304 0 0 0 0 0 0 0 0 20 -5 1"); err != nil || i.Name != "a) (b" || i.State != 'S' ||
		i.Ppid != 1 || i.Session != 3 || i.Flags != 4194304 || i.Nice != -5 {
		t.Errorf("%+v, %v", i, err)
	}
	for _, bad := range []string{"", "7 (a", ") (", "7 (a) S 1 2"} {
		if i.parse(bad) == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

// TestCreate never writes over anything.
func TestCreate(t *testing.T) {
	dir := t.TempDir()
	for _, want := range []string{"core.a_b_.7", "core.a_b_.7.2", "core.a_b_.7.3"} {
		f, err := Create(dir, "a/b\n", 7)
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
		if got := filepath.Base(f.Name()); got != want {
			t.Errorf("%s, not %s", got, want)
		}
	}
	if _, err := Create(filepath.Join(dir, "none"), "a", 7); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

// full is a disk that is.
type full struct{ File }

var errFull = errors.New("full")

func (full) WriteAt(p []byte, at int64) (int, error) {
	if at > 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestErrors(t *testing.T) {
	p := own(t, 8)
	if _, err := Write(full{}, p); !errors.Is(err, errFull) {
		t.Errorf("%v", err)
	}
	p.Threads = nil
	if _, err := Write(full{}, p); err == nil {
		t.Error("a core without threads")
	}
}
