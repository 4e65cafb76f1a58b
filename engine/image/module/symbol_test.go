package module

import (
	"debug/elf"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"gotap/engine/image/symtab"
	"gotap/engine/testenv"
)

// checkAgainstNM looks up every function and variable that nm lists.
func checkAgainstNM(t *testing.T, f *File, symbols []nmSymbol) {
	t.Helper()
	if len(symbols) == 0 {
		t.Fatal("nm lists nothing")
	}
	for _, s := range symbols {
		switch s.typ {
		case "T", "t", "W", "w", "i":
			checkFunc(t, f, s)
		case "D", "d", "B", "b", "R", "r", "V", "u":
			if s.size > 0 && f.Machine != elf.EM_ARM {
				checkVar(t, f, s)
			}
		}
	}
}

func checkFunc(t *testing.T, f *File, s nmSymbol) {
	t.Helper()
	if s.size == 0 && s.typ == "t" {
		return // marks of the start-up files, without a type
	}
	for _, m := range f.Lookup(s.name) {
		if m.Func.Addr == s.addr && (m.Func.Kind == symtab.KindIFunc) == (s.typ == "i") {
			if s.size != 0 && m.Func.Size < s.size {
				t.Errorf("size of %s is %d, nm says %d", s.name, m.Func.Size, s.size)
			}
			return
		}
	}
	if s.size == 0 && len(f.LookupVar(s.name)) > 0 {
		return // weak marks in data
	}
	t.Errorf("%s not found at %x (%s)", s.name, s.addr, s.typ)
}

func checkVar(t *testing.T, f *File, s nmSymbol) {
	t.Helper()
	for _, v := range f.LookupVar(s.name) {
		if v.Addr == s.addr || v.TLS { // nm prints thread-local ones as data
			return
		}
	}
	t.Errorf("variable %s not found at %x", s.name, s.addr)
}

func TestSymbolsAsNMPrintsThem(t *testing.T) {
	eachVariant(t, []string{"names.c", "names2.c"}, func(t *testing.T, path string) {
		checkAgainstNM(t, open(t, path), nm(t, path))
	})
}

func TestDynamicSymbolsOfLibraries(t *testing.T) {
	for _, name := range []string{"libc.so.6", "libstdc++.so.6"} {
		t.Run(name, func(t *testing.T) {
			path := library(t, name)
			checkAgainstNM(t, open(t, path), nm(t, path, "-D", "--defined-only"))
		})
	}
	t.Run("ls", func(t *testing.T) {
		path, err := exec.LookPath("ls")
		if err != nil {
			t.Fatal(err)
		}
		f := open(t, path)
		if _, ok := f.FuncAt(f.Entry); !ok {
			t.Error("the entry point of a stripped program belongs to no function")
		}
	})
}

func TestNames(t *testing.T) {
	testenv.Require(t, testenv.GCC)
	f := open(t, build(t, "gcc", "-O2", "names.c", "names2.c"))
	one := func(name string) *symtab.Func {
		t.Helper()
		found := f.Lookup(name)
		if len(found) != 1 || found[0].Name != name {
			t.Fatalf("Lookup(%q) = %v", name, found)
		}
		return found[0].Func
	}
	if len(f.Lookup("helper")) != 2 {
		t.Error("two static functions of one name are not both found")
	}
	strong := one("strong")
	if one("alias_of_strong").Addr != strong.Addr || one("__hidden_name").Addr != strong.Addr {
		t.Error("names of one address are several places")
	}
	if strong.Name != "strong" || len(strong.Aliases) != 2 {
		t.Errorf("the preferred name is %s, aliases %v", strong.Name, strong.Aliases)
	}
	if one("chosen").Kind != symtab.KindIFunc || one("resolve_chosen").Kind != symtab.KindFunc {
		t.Error("an indirect function and its resolver are not told apart")
	}
	if fn, _ := f.FuncAt(one("chosen").Addr); fn == nil || fn.Name != "resolve_chosen" {
		t.Errorf("the resolver's code belongs to %v", fn)
	}
	if got := len(f.Lookup("glob_*")); got != 2 {
		t.Errorf("glob_* finds %d", got)
	}
	if got := one("framed").Size; got != 3 {
		t.Errorf("call-frame information gives framed %d bytes", got)
	}
	if one("bare_label").Size == 0 {
		t.Error("a function without type and size has no end")
	}
	if v := f.LookupVar("own"); len(v) != 1 || !v[0].TLS {
		t.Errorf("thread-local variable: %v", v)
	}
	if v := f.LookupVar("counter"); len(v) != 1 || v[0].Size != uint64(f.WordSize()) {
		t.Errorf("variable: %v", v)
	}
	if got := f.Lookup(""); len(got) != 0 {
		t.Errorf("the empty name is %v", got)
	}
}

func TestIRelativeNamesTheResolver(t *testing.T) {
	eachVariant(t, []string{"names.c", "names2.c"}, func(t *testing.T, path string) {
		f := open(t, path)
		chosen := f.Lookup("chosen")
		if len(chosen) != 1 {
			t.Fatalf("chosen is %v", chosen)
		}
		var slots []uint64
		for _, r := range f.IRelative() {
			if r.Resolver == chosen[0].Func.Addr {
				slots = append(slots, r.Slot)
			}
		}
		slots = append(slots, f.Slots("chosen")...)
		if len(slots) == 0 {
			t.Fatalf("no pointer to chosen among %v", f.IRelative())
		}
	})
}

func TestSlotsAsReadelfPrintsThem(t *testing.T) {
	testenv.Require(t, testenv.GCC, testenv.Readelf)
	path := build(t, "gcc", "-O2", "calls.c")
	f := open(t, path)
	line := regexp.MustCompile(`(?m)^([0-9a-f]+) .*R_X86_64_(?:JUMP_SLO|GLOB_DAT).* puts@`)
	m := line.FindStringSubmatch(command(t, "readelf", "-r", "-W", path))
	if m == nil {
		t.Fatal("readelf shows no call of puts")
	}
	want, _ := strconv.ParseUint(m[1], 16, 64)
	if got := f.Slots("puts"); len(got) != 1 || got[0] != want {
		t.Errorf("slots of puts: %x, readelf says %x", got, want)
	}
}

// TestStripped compares function bounds that call-frame information gives with the symbols before stripping.
func TestStripped(t *testing.T) {
	testenv.Require(t, testenv.GCC, testenv.Objcopy)
	whole := build(t, "gcc", "-O2", "names.c", "names2.c")
	bare := filepath.Join(t.TempDir(), "bare")
	command(t, "strip", "-o", bare, whole)
	f := open(t, bare)
	if len(f.Lookup("strong")) != 0 {
		t.Fatal("a stripped program has names")
	}
	for _, fn := range open(t, whole).Funcs() {
		if fn.Size == 0 || fn.Estimated || fn.Kind == symtab.KindIFunc {
			continue
		}
		got, ok := f.FuncAt(fn.Addr + fn.Size - 1)
		if !ok || got.Addr != fn.Addr || got.Size != fn.Size || got.Name != "" {
			t.Errorf("%s is %x+%d, found %+v", fn.Name, fn.Addr, fn.Size, got)
		}
	}
}

var fde = regexp.MustCompile(`FDE .*pc=([0-9a-f]+)\.\.([0-9a-f]+)`)

func TestFramesAsReadelfPrintsThem(t *testing.T) {
	testenv.Require(t, testenv.Readelf)
	paths := map[string]string{"libc": library(t, "libc.so.6"), "libstdc++": library(t, "libstdc++.so.6")}
	testenv.Require(t, testenv.GCC)
	paths["O2"] = build(t, "gcc", "-O2", "names.c", "names2.c")
	if testenv.Have(testenv.M32) {
		paths["32"] = build(t, "gcc", append([]string{"-O2", "names.c", "names2.c"}, m32...)...)
	}
	for name, path := range paths {
		t.Run(name, func(t *testing.T) {
			want := map[Range]bool{}
			out := command(t, "readelf", "--debug-dump=no-follow-links,frames", path)
			for _, m := range fde.FindAllStringSubmatch(out, -1) {
				lo, _ := strconv.ParseUint(m[1], 16, 64)
				hi, _ := strconv.ParseUint(m[2], 16, 64)
				want[Range{lo, hi}] = true
			}
			got := map[Range]bool{}
			for _, r := range open(t, path).Frames() {
				got[r] = true
				if !want[r] {
					t.Errorf("readelf does not know %x", r)
				}
			}
			if len(got) != len(want) || len(want) == 0 {
				t.Errorf("%d entries, readelf prints %d", len(got), len(want))
			}
		})
	}
}

func TestTextAndPLTAreSections(t *testing.T) {
	testenv.Require(t, testenv.GCC)
	f := open(t, build(t, "gcc", "-O2", "calls.c"))
	main := f.Lookup("main")[0].Func
	if !f.IsText(main.Addr) || f.InPLT(main.Addr) {
		t.Error("main is not in the text, or in a PLT")
	}
	if len(f.PLT()) == 0 || !f.InPLT(f.PLT()[0].Start) {
		t.Error("no PLT")
	}
	if _, ok := f.FuncAt(f.PLT()[0].Start); ok {
		t.Error("a stub of the PLT is a function")
	}
	if off, ok := f.Offset(main.Addr); !ok {
		t.Error("main is not in the file")
	} else if back, ok := f.Vaddr(off); !ok || back != main.Addr {
		t.Errorf("offset %x of main is address %x", off, back)
	}
}

func TestCodeIsWhatObjdumpShows(t *testing.T) {
	testenv.Require(t, testenv.GCC, testenv.Objdump)
	path := build(t, "gcc", "-O2", "-fcf-protection=full", "names.c", "names2.c")
	f := open(t, path)
	fn := f.Lookup("main")[0].Func
	code, err := f.Code(fn.Addr, 4)
	if err != nil || string(code) != "\xf3\x0f\x1e\xfa" {
		t.Errorf("main begins with %x, %v; endbr64 expected", code, err)
	}
	if _, err := f.Code(1<<40, 4); err == nil || !strings.Contains(err.Error(), "0x10000000000") {
		t.Errorf("code outside the file: %v", err)
	}
}

// TestSizeGuessedEndsAtTheNextFrame has assembly without a size in front of a function without a name: what has
// call-frame information of its own does not belong to it.
func TestSizeGuessedEndsAtTheNextFrame(t *testing.T) {
	testenv.Require(t, testenv.GCC)
	path := build(t, "gcc", "-O1", "-fno-toplevel-reorder", "-rdynamic", "loose.c")
	full := open(t, path)
	behind := full.Lookup("behind")
	if len(behind) != 1 {
		t.Fatalf("behind: %v", behind)
	}
	command(t, "strip", path)
	f := open(t, path)
	loose := f.Lookup("loose")
	if len(loose) != 1 || loose[0].Func.End() > behind[0].Func.Addr {
		t.Errorf("loose: %+v, and another function at %#x", loose, behind[0].Func.Addr)
	}
	if fn, ok := f.FuncAt(behind[0].Func.Addr); !ok || fn.Addr != behind[0].Func.Addr || fn.Name != "" {
		t.Errorf("at %#x: %+v, not a function of its own", behind[0].Func.Addr, fn)
	}
}
