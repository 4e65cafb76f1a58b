package engine

import (
	"bytes"
	"debug/elf"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gotap/engine/testenv"
	rtoutcome "gotap/runtime/outcome"
)

// dumpAt runs a program of testdata/dumped.c with a probe that asks for a core at the second call of give, or when that
// is left.
func dumpAt(t *testing.T, path string, left bool) (core string, tg *target) {
	t.Helper()
	dir := t.TempDir()
	var paths []string
	w := newWorld(t, Config{Follow: FollowThreads, CoreDir: dir, Dumped: func(_ int, path string, size int64, err error) {
		if err != nil || size < 4096 {
			t.Errorf("%d bytes, %v", size, err)
		}
		paths = append(paths, path)
	}})
	tg = w.launch(path)
	code := w.code()
	code.Insts[0].A = uint32(rtoutcome.ExitDump)
	handlers := Handlers{Enter: code}
	if left {
		handlers = Handlers{Leave: code}
	}
	w.probe("give", handlers, func(p *ProbeSpec) { p.After, p.Limit = 1, 1 })
	w.run()
	w.Close(false)
	if len(paths) != 1 || filepath.Dir(paths[0]) != dir || !strings.HasPrefix(filepath.Base(paths[0]), "core.dumped") {
		t.Fatalf("cores %q", paths)
	}
	return paths[0], tg
}

// TestCore has gdb read a core: the threads with their stacks, memory, vector registers, the auxiliary vector.
func TestCore(t *testing.T) {
	for name, flags := range map[string][]string{"64": nil, "32": {"-m32"}, "static": {"-static"}} {
		t.Run(name, func(t *testing.T) {
			testenv.Require(t, testenv.GDB)
			if name == "32" {
				testenv.Require(t, testenv.M32, testenv.IA32)
			}
			path := program(t, "dumped.c", flags...)
			core, tg := dumpAt(t, path, false)
			want(t, "output", tg.output(), "6 never written\n")
			out, err := exec.Command("gdb", "-q", "-nx", "-batch", "-ex", "bt", "-ex", "print secret", "-ex", "print fixed",
				"-ex", "thread apply all bt", "-ex", "thread 2", "-ex", "print $xmm5.v2_double[0]", "-ex", "info auxv", "-ex", "info proc mappings",
				path, core).CombinedOutput()
			if err != nil {
				t.Fatalf("gdb: %v\n%s", err, out)
			}
			for _, text := range []string{"#0  give (n=", " in main ()", `"in the heap"`, `"never written"`,
				"Thread 3 ", "wait (pipe_end=", "= 1.25", "AT_EXECFN", path + "\n"} {
				if !bytes.Contains(out, []byte(text)) {
					t.Errorf("gdb does not say %q", text)
				}
			}
			if t.Failed() {
				t.Logf("%s", out)
			}
		})
	}
}

// TestCoreOfReturn has gdb say where the thread of a core is whose probed instruction led out of the function.
func TestCoreOfReturn(t *testing.T) {
	testenv.Require(t, testenv.GDB)
	path := program(t, "dumped.c")
	core, tg := dumpAt(t, path, true)
	want(t, "output", tg.output(), "6 never written\n")
	out, err := exec.Command("gdb", "-q", "-nx", "-batch", "-ex", "bt 2", path, core).CombinedOutput()
	if err != nil || !regexp.MustCompile(`(?m)^#0 .*\bgive \(.*\n#1 .* main \(`).Match(out) {
		t.Errorf("gdb: %v\n%s", err, out)
	}
}

// TestCoreText compares the code in a core with the program's file: our breakpoints must not be in it.
func TestCoreText(t *testing.T) {
	path := program(t, "dumped.c", "-no-pie")
	core, _ := dumpAt(t, path, false)
	exe, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer exe.Close()
	dump, err := elf.Open(core)
	if err != nil {
		t.Fatal(err)
	}
	defer dump.Close()
	text := exe.Section(".text")
	file, err := text.Data()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range dump.Progs {
		if p.Type != elf.PT_LOAD || text.Addr < p.Vaddr || text.Addr+text.Size > p.Vaddr+p.Filesz {
			continue
		}
		memory := make([]byte, len(file))
		if _, err := p.ReadAt(memory, int64(text.Addr-p.Vaddr)); err != nil {
			t.Fatal(err)
		}
		want(t, "text is as in the file", bytes.Equal(memory, file), true)
		return
	}
	t.Fatal("the core has no text")
}
