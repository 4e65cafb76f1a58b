package module

import (
	"debug/elf"
	"testing"

	"gotap/engine/testenv"
)

// A program that names variables of the C library has them itself, where its dynamic symbols say; the library's other
// names of one mean the same.
func TestCopyOf(t *testing.T) {
	testenv.Require(t, testenv.GCC)
	program := open(t, build(t, "gcc", "-O2", "-fno-pie", "-no-pie", "copies.c"))
	libc := open(t, library(t, "libc.so.6"))
	dynamic, err := program.elf.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]uint64{}
	for _, s := range dynamic {
		if s.Section != elf.SHN_UNDEF {
			want[s.Name] = s.Value
		}
	}
	if want["optind"] == 0 || want["environ"] == 0 {
		testenv.Lack(t, testenv.Copies)
	}
	want["__environ"], want["_environ"] = want["environ"], want["environ"]
	for _, name := range []string{"optind", "environ", "__environ", "_environ", "opterr"} {
		for _, v := range libc.LookupVar(name) {
			if addr, ok := program.CopyOf(libc, v); addr != want[name] || ok != (name != "opterr") {
				t.Errorf("the copy of %s: %#x, %v; the program has it at %#x", name, addr, ok, want[name])
			}
			if _, ok := libc.CopyOf(program, v); ok {
				t.Errorf("the library has a copy of %s", name)
			}
		}
	}
}
