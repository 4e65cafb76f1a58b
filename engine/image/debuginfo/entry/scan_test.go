package entry

import (
	"debug/dwarf"
	"errors"
	"math/rand"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotap/engine/image/debuginfo/dwarftest"
	"gotap/engine/image/mapped"
	"gotap/engine/testenv"
)

// What the scanner says is compared with what debug/dwarf says, for all units of programs of several compilers and in
// several forms of debug information.

// openProgram returns a reader of a program, and of the files that it refers to.
func openProgram(t *testing.T, path string) *Reader {
	t.Helper()
	open := func(path string) (File, error) {
		img, err := mapped.Open(path)
		if err != nil {
			return nil, err
		}
		t.Cleanup(func() { img.Close() })
		return img, nil
	}
	img, err := open(path)
	if err != nil {
		t.Fatal(err)
	}
	rd := New(img)
	rd.UseOpener(open)
	if err := rd.Load(); err != nil {
		t.Fatal(err)
	}
	return rd
}

// whole is what is asked of the scanner: to enter everything.
func whole(dwarf.Tag) bool { return true }

// outer enters namespaces.
func outer(tag dwarf.Tag) bool { return tag == dwarf.TagNamespace || tag == dwarf.TagModule }

// functionsOf returns the functions of a unit that have code, as debug/dwarf reads them.
func functionsOf(t *testing.T, rd *Reader, u *Unit, enter func(dwarf.Tag) bool) (found []dwarf.Offset) {
	t.Helper()
	err := rd.TopLevel(u, func(e *dwarf.Entry) bool {
		if e.Tag == dwarf.TagSubprogram && (e.AttrField(dwarf.AttrLowpc) != nil || e.AttrField(dwarf.AttrRanges) != nil) {
			found = append(found, e.Offset)
		}
		return enter(e.Tag)
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// compareUnit compares what scanner and debug/dwarf say of a unit, and returns the numbers of calls, functions and
// names.
func compareUnit(t *testing.T, rd *Reader, u *Unit) (calls, functions, names int) {
	t.Helper()
	got, ok := scanCalls(u)
	want, err := NewSurvey(rd).readCalls(u)
	if err != nil || !ok || !slices.Equal(got, want) {
		t.Errorf("unit %#x: %d inlined calls, %v; want %d, %v", u.Start, len(got), ok, len(want), err)
	}
	for _, enter := range []func(dwarf.Tag) bool{outer, whole} {
		got, ok := scanFunctions(u, enter)
		want := functionsOf(t, rd, u, enter)
		if !ok || !slices.Equal(got, want) {
			t.Errorf("unit %#x: functions %#x, %v; want %#x", u.Start, got, ok, want)
		}
		functions = len(got)
	}
	seen := map[dwarf.Offset]bool{}
	for _, c := range want {
		if seen[c.Origin] {
			continue
		}
		if len(seen) < 3 { // each takes as long as the whole unit
			compareInlined(t, rd, u, c.Origin)
		}
		seen[c.Origin] = true
		name := NewSurvey(rd).linkageName(c.Origin)
		if name != "" {
			names++
		}
		for _, asked := range []string{name, name + "x", strings.TrimSuffix(name, "v"), "main"} {
			if asked != "" && NewSurvey(rd).IsLinkedAs(c.Origin, asked) != (asked == name) {
				t.Errorf("entry %#x is linked as %s: %v; want %s", c.Origin, asked, asked != name, name)
			}
		}
	}
	return len(want), functions, names
}

// compareInlined compares what scanner and debug/dwarf find of a unit by the name of an inlined function.
func compareInlined(t *testing.T, rd *Reader, u *Unit, origin dwarf.Offset) {
	t.Helper()
	e, err := rd.At(origin)
	if err != nil {
		t.Fatal(err)
	}
	name := rd.QualifiedName(e)
	for asked, want := range map[string]bool{name: true, "outer::" + name: true, "outer::" + name + "nowhere": false} {
		if got := rd.search.mayFind(asked, rd.parts); got != want {
			t.Errorf("an entry may have the name %s: %v, want %v", asked, got, want)
		}
	}
	scanned, ok := NewSurvey(rd).scanInlined(u, name)
	got, err := NewSurvey(rd).inlinedAs(scanned, name)
	read, err2 := NewSurvey(rd).readInlined(u, name)
	want, err3 := NewSurvey(rd).inlinedAs(read, name)
	if err := errors.Join(err, err2, err3); err != nil || !ok {
		t.Errorf("%s: %v, %v", name, ok, err)
	}
	same := func(a, b *dwarf.Entry) bool { return a.Offset == b.Offset }
	itself, _ := NewSurvey(rd).inlinedAs([]dwarf.Offset{origin}, name) // none of those that are inlined without saying so, as destructors may be
	if !slices.EqualFunc(got, want, same) || u == rd.UnitOf(origin) && len(got) < len(itself) {
		t.Errorf("%s has %d entries, want %d", name, len(got), len(want))
	}
}

// compareProgram compares what scanner and debug/dwarf say of a program.
func compareProgram(t *testing.T, name, path string, wantNames bool) {
	t.Helper()
	rd := openProgram(t, path)
	calls, functions, names := 0, 0, 0
	units := rd.Units()
	compareEntries(t, rd)
	for _, u := range units {
		c, f, n := compareUnit(t, rd, u)
		calls, functions, names = calls+c, functions+f, names+n
	}
	if calls < 8 || functions < 8 || wantNames && names == 0 {
		t.Errorf("%s: only %d inlined calls, %d functions, %d names", name, calls, functions, names)
	}
}

func TestScannerAgrees(t *testing.T) {
	testenv.Require(t, testenv.GXX, testenv.Clang, testenv.DWZ, testenv.Rust)
	source, err := filepath.Abs("../testdata")
	if err != nil {
		t.Fatal(err)
	}
	const program = "gcc FLAGS -Dmain=values_main -c SRC/values.c && gcc FLAGS -Dmain=inlined_main -c SRC/inlined.c && " +
		"g++ FLAGS -std=c++17 SRC/farm.cc values.o inlined.o -o program"
	clang := strings.NewReplacer("gcc", "clang", "g++", "clang++").Replace(program)
	for _, c := range []struct{ name, flags, commands string }{
		{"gcc 2", "-gdwarf-2", program},
		{"gcc 4", "-gdwarf-4 -fdebug-types-section", program},
		{"gcc 5", "-gdwarf-5", program},
		{"gcc 64 bit", "-gdwarf-5 -gdwarf64", program},
		{"gcc split", "-gdwarf-5 -gsplit-dwarf", program},
		{"clang 5", "-gdwarf-5", clang},
		{"clang split 4", "-gdwarf-4 -gsplit-dwarf", clang},
		{"dwz", "-gdwarf-5", program + " && dwz --odr program"},
		{"dwz standard", "-gdwarf-5", program + " && cp program other && dwz --dwarf-5 -m common program other"},
		{"library", "-gdwarf-5", "g++ FLAGS -std=c++17 SRC/objects.cc -o program"},
		{"rust", "", "rustc -g -O --crate-name program -o program SRC/index.rs"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			cmd := exec.Command("sh", "-c", strings.NewReplacer("SRC", source, "FLAGS", "-O2 -w -fno-exceptions "+c.flags).Replace(c.commands))
			cmd.Dir = dir
			if text, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", cmd.Args[2], err, text)
			}
			compareProgram(t, c.name, filepath.Join(dir, "program"), c.name != "gcc 2")
		})
	}
	t.Run("go", func(t *testing.T) {
		t.Parallel()
		compareProgram(t, "go", testenv.GoProgram(t, "../../module/testdata/goprog", nil), false)
	})
}

// TestScannerSurvivesDamage scans damaged debug information. Answers may be wrong, but the scan ends.
func TestScannerSurvivesDamage(t *testing.T) {
	rnd := rand.New(rand.NewSource(1))
	for range 5000 {
		f := scanned()
		for _, data := range [][]byte{f.Info, f.Abbrev} {
			for range rnd.Intn(4) {
				data[rnd.Intn(len(data))] = byte(rnd.Intn(256))
			}
		}
		f.Info, f.Abbrev = f.Info[:len(f.Info)-rnd.Intn(2)], f.Abbrev[:len(f.Abbrev)-rnd.Intn(2)]
		scanAll(f)
	}
}

// scanned is a file with an inlined call in a function, and with names, siblings and blocks.
func scanned() *dwarftest.File { return dwarftest.Encode(scannedUnit()) }

func scannedUnit() *dwarftest.DIE {
	origin := &dwarftest.DIE{Tag: dwarf.TagSubprogram, Attrs: dwarftest.Attrs{dwarf.AttrLinkageName: "_Z3addii", dwarf.AttrFrameBase: []byte{0x9c}},
		Kids: []*dwarftest.DIE{{Tag: dwarf.TagFormalParameter, Attrs: dwarftest.Attrs{dwarf.AttrName: "a"}}}}
	call := &dwarftest.DIE{Tag: dwarf.TagInlinedSubroutine, Attrs: dwarftest.Attrs{dwarf.AttrAbstractOrigin: origin, dwarf.AttrLowpc: uint64(0x1004)}}
	outside := &dwarftest.DIE{Tag: dwarf.TagSubprogram, Attrs: dwarftest.Attrs{dwarf.AttrLowpc: uint64(0x1000), dwarf.AttrHighpc: int64(16), dwarf.AttrSibling: origin},
		Kids: []*dwarftest.DIE{call}}
	return &dwarftest.DIE{Tag: dwarf.TagCompileUnit, Kids: []*dwarftest.DIE{outside, origin}, Attrs: dwarftest.Attrs{
		dwarf.AttrLanguage: dwarftest.CPlusPlus, dwarf.AttrLowpc: uint64(0x1000), dwarf.AttrHighpc: int64(64)}}
}

// scanAll asks a file everything that the scanner answers.
func scanAll(f *dwarftest.File) {
	rd := New(f)
	if rd.Load() != nil {
		return
	}
	for _, u := range rd.Units() {
		calls, _ := NewSurvey(rd).InlinedCalls(u)
		for _, c := range calls {
			NewSurvey(rd).IsLinkedAs(c.Origin, "_Z3addii")
			NewSurvey(rd).Inlined(u, "_Z3addii")
		}
		for _, enter := range []func(dwarf.Tag) bool{outer, whole} {
			NewSurvey(rd).Functions(u, enter, func(*dwarf.Entry) {})
		}
	}
}

func FuzzScanner(f *testing.F) {
	example := scanned()
	f.Add(example.Info, example.Abbrev)
	f.Fuzz(func(_ *testing.T, info, abbrev []byte) {
		scanAll(&dwarftest.File{Info: info, Abbrev: abbrev})
		readAll(&dwarftest.File{Info: info, Abbrev: abbrev})
	})
}
