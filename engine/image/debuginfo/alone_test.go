package debuginfo_test

import (
	"debug/elf"
	"os"
	"path/filepath"
	"testing"

	"gotap/engine/image/debuginfo"
	"gotap/engine/image/mapped"
	"gotap/engine/testenv"
)

// TestUnitAlone asks for the copies of each function twice: of its unit alone, and of all debug information. What the
// unit says has to be right, and it has to say so of most functions without copies.
func TestUnitAlone(t *testing.T) {
	testenv.Require(t, testenv.GCC, testenv.GXX)
	for name, flags := range map[string][]string{
		"partly.c":  {"-O2", "testdata/alone.c"}, // a unit behind another one
		"split.c":   {"-O2", "-gdwarf-4", "-gz"},
		"short.c":   {"-O2", "-flto"},
		"shared.cc": {"-O2", "testdata/shared2.cc"},
	} {
		source := filepath.Join("testdata", name)
		p := build(t, source, flags...)
		checkAlone(t, p.path, p.elf, name != "shared.cc" && name != "short.c", 1)
	}
}

// TestUnitAloneOfMany is for files with so much debug information that only the function's unit is searched, in C++, too.
func TestUnitAloneOfMany(t *testing.T) {
	testenv.Require(t, testenv.GXX)
	defer debuginfo.SearchAtMost(0)()
	for _, flags := range [][]string{{"-O2"}, {"-O2", "-gdwarf-4", "-fdebug-types-section"}} {
		p := build(t, "testdata/shared.cc", append(flags, "testdata/shared2.cc")...)
		checkAlone(t, p.path, p.elf, true, 1)
	}
}

// TestUnitAloneInLibrary does the same with functions of a C library, in which many are inlined: every 97th, and in long
// runs all.
func TestUnitAloneInLibrary(t *testing.T) {
	step := 97
	if os.Getenv("GOTAP_LONG") != "" {
		step = 1
	}
	found, _ := filepath.Glob("/usr/lib/debug/.build-id/*/*.debug")
	for _, path := range found {
		f, err := elf.Open(path)
		if err != nil {
			continue
		}
		syms, _ := f.Symbols()
		for _, s := range syms {
			if s.Name == "__libc_malloc" && s.Value != 0 {
				checkAlone(t, path, f, true, step)
				break
			}
		}
		f.Close()
	}
}

func checkAlone(t *testing.T, path string, f *elf.File, some bool, step int) {
	t.Helper()
	one, all := openInfo(t, path), openInfo(t, path)
	all.Inlined("nothing") // reads everything
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	said := 0
	for i := 0; i < len(symbols); i += step {
		s := symbols[i]
		if elf.ST_TYPE(s.Info) != elf.STT_FUNC || s.Value == 0 {
			continue
		}
		none, err := debuginfo.AskAlone(one, s.Value)
		if !none || err != nil {
			continue
		}
		said++
		if copies, err := all.Copies(s.Value); err != nil || len(copies) > 0 {
			t.Errorf("%s: %s has the copies %v, %v", path, s.Name, copies, err)
		}
	}
	if (said > 0) != some {
		t.Errorf("%s: units alone know of %d functions that they have no copies", path, said)
	}
}

func openInfo(t *testing.T, path string) *debuginfo.Info {
	t.Helper()
	m, err := mapped.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	in, err := debuginfo.Open(m)
	if err != nil {
		t.Fatal(err)
	}
	return in
}
