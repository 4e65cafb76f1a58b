package module

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gotap/engine/testenv"
)

func TestParseMaps(t *testing.T) {
	maps, err := ParseMaps(`55d0c0a00000-55d0c0a02000 r--p 00000000 fd:01 1234                       /usr/bin/with blank (1)
55d0c0a02000-55d0c0a04000 r-xp 00002000 fd:01 1234                       /usr/bin/with blank (1)
7f0000000000-7f0000001000 rw-s 00000000 00:01 77                         /memfd:x (deleted)
7f0000002000-7f0000003000 rw-p 00000000 00:00 0 
f7f00000-f7f01000 r-xp 00000000 00:00 0                                  [vdso]
ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]
7f0000004000-7f0000005000 r--p 00000000 103:0a 18446744073709551615      /a\012b (deleted)
`)
	if err != nil || len(maps) != 7 {
		t.Fatalf("%d mappings, %v", len(maps), err)
	}
	for i, want := range []Mapping{
		{Start: 0x55d0c0a00000, End: 0x55d0c0a02000, Read: true, Dev: 0xfd01, Inode: 1234, Path: "/usr/bin/with blank (1)"},
		{Start: 0x55d0c0a02000, End: 0x55d0c0a04000, Read: true, Exec: true, Offset: 0x2000, Dev: 0xfd01, Inode: 1234, Path: "/usr/bin/with blank (1)"},
		{Start: 0x7f0000000000, End: 0x7f0000001000, Read: true, Write: true, Shared: true, Dev: 1, Inode: 77, Path: "/memfd:x", Deleted: true},
		{Start: 0x7f0000002000, End: 0x7f0000003000, Read: true, Write: true},
		{Start: 0xf7f00000, End: 0xf7f01000, Read: true, Exec: true, Path: "[vdso]"},
		{Start: 0xffffffffff600000, End: 0xffffffffff601000, Exec: true, Path: "[vsyscall]"},
		{Start: 0x7f0000004000, End: 0x7f0000005000, Read: true, Dev: 0x1030a, Inode: 1<<64 - 1, Path: "/a\nb", Deleted: true},
	} {
		if maps[i] != want {
			t.Errorf("mapping %d is %+v, want %+v", i, maps[i], want)
		}
	}
	for _, bad := range []string{"x", "1-2", "1-2 r-xp 0 0 0", "1-2 r 0 0:0 0 /x", "1-g r-xp 0 0:0 0 /x", "1-2 r-xp 0 0:0 -1 /x"} {
		if _, err := ParseMaps(bad); err == nil {
			t.Errorf("%q is a mapping", bad)
		}
	}
}

func TestGroup(t *testing.T) {
	m := func(start, offset uint64, inode uint64, exec bool) Mapping {
		return Mapping{Start: start << 12, End: (start + 1) << 12, Offset: offset << 12, Inode: inode, Path: fmt.Sprint(inode), Read: true, Exec: exec}
	}
	groups := Group([]Mapping{
		m(1, 0, 7, false),                                                            // the file read as data
		m(10, 0, 7, false), m(11, 1, 7, true), {Start: 12 << 12}, m(13, 2, 7, false), // loaded, with anonymous memory inside
		m(20, 0, 8, true), m(21, 0, 8, false), // all of a tiny file in one page
		m(30, 0, 7, false), m(31, 1, 7, true), // loaded again
		m(40, 0, 9, false), // data only
	})
	if len(groups) != 3 {
		t.Fatalf("%d groups: %+v", len(groups), groups)
	}
	for i, want := range []struct{ start, end uint64 }{{10, 14}, {20, 22}, {30, 32}} {
		if g := groups[i]; g.Start() != want.start<<12 || g.End() != want.end<<12 {
			t.Errorf("group %d is %x-%x", i, g.Start(), g.End())
		}
	}
	if Find(groups, 12<<12) != nil || Find(groups, 13<<12) != &groups[0] || Find(groups, 31<<12) != &groups[2] {
		t.Error("addresses are found in the wrong group")
	}
}

// start runs a program that waits on its standard input until the test ends.
func start(t *testing.T, path string) int {
	t.Helper()
	cmd := exec.Command(path)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); cmd.Wait() })
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	return cmd.Process.Pid
}

// auxEntry is the address of the program's first instruction, which the kernel tells every process (AT_ENTRY).
func auxEntry(t *testing.T, pid, word int) uint64 {
	t.Helper()
	aux, err := os.ReadFile(fmt.Sprintf("/proc/%d/auxv", pid))
	if err != nil {
		t.Fatal(err)
	}
	get := func(i int) uint64 {
		if word == 4 {
			return uint64(binary.LittleEndian.Uint32(aux[i*4:]))
		}
		return binary.LittleEndian.Uint64(aux[i*8:])
	}
	for i := 0; (i+2)*word <= len(aux); i += 2 {
		if get(i) == 9 {
			return get(i + 1)
		}
	}
	t.Fatal("no entry point in the auxiliary vector")
	return 0
}

// checkLoaded compares the entry point as the kernel tells it with what mappings and program headers give.
func checkLoaded(t *testing.T, c *Cache, pid int, path string) *Loaded {
	t.Helper()
	mods, err := c.Load(pid)
	if err != nil {
		t.Fatal(err)
	}
	for i := range mods {
		l := &mods[i]
		if l.Path != path {
			continue
		}
		if l.Err != nil {
			t.Fatal(l.Err)
		}
		entry := auxEntry(t, pid, l.File.WordSize())
		if got := l.Addr(l.File.Entry); got != entry || l.Vaddr(entry) != l.File.Entry || !l.Contains(entry) {
			t.Errorf("the entry point is at %x, the kernel says %x", got, entry)
		}
		return l
	}
	t.Fatalf("%s is not among the modules", path)
	return nil
}

func TestBiasOfRunningPrograms(t *testing.T) {
	eachVariant(t, []string{"wait.c"}, func(t *testing.T, path string) {
		var c Cache
		defer c.Close()
		if strings.HasSuffix(t.Name(), "/32") {
			testenv.Require(t, testenv.IA32)
		}
		pid := start(t, path)
		l := checkLoaded(t, &c, pid, path)
		mem, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
		if err != nil {
			testenv.Lack(t, testenv.ProcMem)
		}
		defer mem.Close()
		fn := l.File.Lookup("main")[0].Func
		want, _ := l.File.Code(fn.Addr, 16)
		got := make([]byte, len(want))
		if _, err := mem.ReadAt(got, int64(l.Addr(fn.Addr))); err != nil || string(got) != string(want) {
			t.Errorf("main in memory is %x, in the file %x (%v)", got, want, err)
		}
	})
}

func TestDeletedProgramIsOpened(t *testing.T) {
	testenv.Require(t, testenv.GCC)
	path := build(t, "gcc", "-O2", "wait.c")
	pid := start(t, path)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("another file of the same name"), 0o755); err != nil {
		t.Fatal(err)
	}
	var c Cache
	defer c.Close()
	if l := checkLoaded(t, &c, pid, path); !l.Deleted || len(l.File.Lookup("main")) != 1 {
		t.Errorf("deleted %v", l.Deleted)
	}
}

func TestCacheSharesFiles(t *testing.T) {
	testenv.Require(t, testenv.GCC)
	path := build(t, "gcc", "-O2", "wait.c")
	var c Cache
	defer c.Close()
	a, b := checkLoaded(t, &c, start(t, path), path), checkLoaded(t, &c, start(t, path), path)
	if a.File != b.File {
		t.Error("two processes of one program have two files")
	}
	if f, err := c.OpenPath(path); err != nil || f != a.File {
		t.Errorf("by path it is another file: %v", err)
	}
	// the same name and often the same inode, but another file
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	os.Remove(path)
	if err := os.WriteFile(path, data, 0o755); err != nil {
		t.Fatal(err)
	}
	if f, err := c.OpenPath(path); err != nil || f == a.File {
		t.Errorf("a file that was written again is the old one: %v", err)
	}
}

func TestEveryModuleOfThisProcess(t *testing.T) {
	var c Cache
	defer c.Close()
	mods, err := c.Load(os.Getpid())
	if err != nil || len(mods) == 0 {
		t.Fatalf("%d modules, %v", len(mods), err)
	}
	self, _ := os.Executable()
	self, _ = filepath.EvalSymlinks(self)
	if mods[0].Path != self || mods[0].Err != nil || mods[0].Bias != 0 && !mods[0].File.PIE {
		t.Errorf("the first module is %s, %v", mods[0].Path, mods[0].Err)
	}
}

func TestErrorsNameTheProcessAndTheFile(t *testing.T) {
	if _, err := Maps(1 << 30); err == nil || !strings.Contains(err.Error(), "1073741824") {
		t.Errorf("mappings of no process: %v", err)
	}
	dir := t.TempDir()
	for name, open := range map[string]func() error{
		"missing":   func() error { _, err := Open(filepath.Join(dir, "missing")); return err },
		"directory": func() error { _, err := Open(dir); return err },
		"text": func() error {
			path := filepath.Join(dir, "text")
			os.WriteFile(path, []byte("no ELF file"), 0o644)
			_, err := Open(path)
			return err
		},
		"memory": func() error { _, err := NewFile("[vdso]", strings.NewReader("")); return err },
	} {
		if err := open(); err == nil || !strings.HasPrefix(err.Error(), "cannot ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzParseMaps(f *testing.F) {
	self, _ := os.ReadFile("/proc/self/maps")
	f.Add(string(self))
	f.Add("1-2 rwxp 0 0:0 0 x (deleted)\n\n")
	f.Fuzz(func(t *testing.T, text string) {
		maps, err := ParseMaps(text)
		if err == nil {
			Find(Group(maps), 1)
		}
	})
}
