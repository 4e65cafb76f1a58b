package place

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/arch/x86/x86asm"

	"gotap/engine/image/module"
	"gotap/engine/testenv"
	"gotap/engine/testenv/fixture"
)

// build compiles a source of testdata and opens the program.
func build(t *testing.T, compiler, source string, flags ...string) *module.File {
	t.Helper()
	testenv.Require(t, testenv.Need(compiler))
	out := filepath.Join(t.TempDir(), strings.TrimSuffix(source, filepath.Ext(source)))
	args := append(flags, "-O2", "-o", out, filepath.Join("testdata", source))
	if text, err := fixture.Command(compiler, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", compiler, err, text)
	}
	return open(t, out)
}

func open(t *testing.T, path string) *module.File {
	t.Helper()
	f, err := module.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// decode lists instructions with a decoder that is not this project's.
func decode(f *module.File, code []byte, vaddr uint64) ([]uint64, error) {
	var addrs []uint64
	for i := 0; i < len(code); {
		in, err := x86asm.Decode(code[i:], f.Bits)
		if err != nil {
			return addrs, err
		}
		addrs = append(addrs, vaddr+uint64(i))
		i += in.Len
	}
	return addrs, nil
}

// resolve resolves a text in modules.
func resolve(t *testing.T, text string, files ...*module.File) ([]Target, error) {
	t.Helper()
	s, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	r := Resolver{Boundaries: decode}
	return r.ResolveAll(s, files)
}

// names lists what a text means.
func names(t *testing.T, text string, files ...*module.File) []string {
	t.Helper()
	targets, err := resolve(t, text, files...)
	if err != nil {
		t.Errorf("%s: %v", text, err)
	}
	var all []string
	for _, target := range targets {
		all = append(all, target.Name)
	}
	return all
}

// instructions lists the offsets of a function's instructions as objdump prints them.
func instructions(t *testing.T, f *module.File, name string) []uint64 {
	t.Helper()
	testenv.Require(t, testenv.Objdump)
	fn := f.Lookup(name)[0].Func
	out, err := exec.Command("objdump", "-d", "--no-show-raw-insn", fmt.Sprintf("--start-address=0x%x", fn.Addr),
		fmt.Sprintf("--stop-address=0x%x", fn.End()), f.Path).Output()
	if err != nil {
		t.Fatal(err)
	}
	var offsets []uint64
	for _, m := range regexp.MustCompile(`(?m)^ +([0-9a-f]+):\t`).FindAllStringSubmatch(string(out), -1) {
		addr, _ := strconv.ParseUint(m[1], 16, 64)
		offsets = append(offsets, addr-fn.Addr)
	}
	return offsets
}

func TestFunctions(t *testing.T) {
	f := build(t, "gcc", "prog.c")
	for text, want := range map[string][]string{
		"work":           {"prog:work"},
		"prog:work":      {"prog:work"},
		"work+0x0":       {"prog:work"},
		"also_work":      {"prog:also_work"},
		"wor*":           {"prog:work", "prog:worker"},
		f.Path + ":work": {"prog:work"},
		"chosen":         {"prog:chosen"},
	} {
		if got := names(t, text, f); !slices.Equal(got, want) {
			t.Errorf("%s is %q, want %q", text, got, want)
		}
	}
	targets, err := resolve(t, "chosen", f)
	if err != nil || !targets[0].IFunc || targets[0].Entry() || len(targets[0].Chosen([]*module.File{f})) == 0 {
		t.Errorf("indirect function: %+v, %v", targets, err)
	}
	if targets, _ := resolve(t, "work", f); !targets[0].Entry() || targets[0].Symbol != "work" {
		t.Errorf("%+v is no entry", targets[0])
	}
}

func TestOffsetsAreInstructions(t *testing.T) {
	f := build(t, "gcc", "prog.c")
	for _, name := range []string{"work", "worker", "main"} {
		offsets := instructions(t, f, name)
		targets, err := resolve(t, name+"+*", f)
		if err != nil || len(targets) != len(offsets) {
			t.Fatalf("%s+*: %d instructions, objdump prints %d: %v", name, len(targets), len(offsets), err)
		}
		size := targets[0].Func.Size
		for off := range size {
			text := fmt.Sprintf("%s+%d", name, off)
			targets, err := resolve(t, text, f)
			i, boundary := slices.BinarySearch(offsets, off)
			if boundary {
				if err != nil || len(targets) != 1 || targets[0].Offset != off || targets[0].Vaddr != targets[0].Func.Addr+off {
					t.Errorf("%s: %+v, %v", text, targets, err)
				}
				continue
			}
			checkNear(t, err, name, offsets[i-1:min(i+1, len(offsets))])
		}
		_, err = resolve(t, fmt.Sprintf("%s+0x%x", name, size), f)
		var oe *OffsetError
		if !errors.As(err, &oe) || oe.Func != name || len(oe.Near) != 0 || !strings.Contains(err.Error(), name) {
			t.Errorf("beyond %s: %v", name, err)
		}
	}
}

// checkNear asks that an error lists the instructions below and above.
func checkNear(t *testing.T, err error, name string, near []uint64) {
	t.Helper()
	var oe *OffsetError
	if !errors.As(err, &oe) || !slices.Equal(oe.Near, near) {
		t.Errorf("%v; nearest should be %v", err, near)
		return
	}
	for _, off := range near {
		if !strings.Contains(err.Error(), fmt.Sprintf("%s+0x%x", name, off)) {
			t.Errorf("%v does not name offset 0x%x", err, off)
		}
	}
}

func hintOf(err error) string {
	var nf *NotFoundError
	if !errors.As(err, &nf) {
		return ""
	}
	return nf.Hint()
}

func TestAddresses(t *testing.T) {
	f := build(t, "gcc", "prog.c", "-s")
	if _, err := resolve(t, "work", f); err == nil {
		t.Fatal("a stripped program has names")
	} else if hint := hintOf(err); !strings.Contains(hint, "prog (build-id "+f.BuildID+") is stripped") || !strings.Contains(hint, "dbgsym") {
		t.Errorf("the hint of a stripped program is %q", hint)
	}
	if _, err := resolve(t, "nothing_like_it", build(t, "gcc", "prog.c")); strings.Contains(hintOf(err), "stripped") {
		t.Errorf("a program with names is called stripped: %v", err)
	}
	at := f.Frames()[len(f.Frames())-1].Start
	targets, err := resolve(t, fmt.Sprintf("prog:0x%x", at), f)
	if err != nil || len(targets) != 1 || targets[0].Vaddr != at || targets[0].Func == nil || targets[0].Symbol != "" {
		t.Fatalf("%+v, %v", targets, err)
	}
	_, err = resolve(t, "prog:0x10", f)
	var refused *RefusedError
	if !errors.As(err, &refused) || refused.Hint() == "" {
		t.Errorf("an address outside the code: %v", err)
	}
	if _, err := resolve(t, "0x1136", f); !errors.Is(err, ErrProcessAddress) {
		t.Errorf("an address of the process: %v", err)
	}
}

func TestCxx(t *testing.T) {
	f := build(t, "g++", "shapes.cc")
	if got := names(t, "shapes:geo::grow", f); !slices.Equal(got, []string{"shapes:geo::grow", "shapes:geo::grow"}) {
		t.Errorf("overloads: %q", got)
	}
	if got := names(t, "geo::grow(int)", f); len(got) != 1 {
		t.Errorf("one overload: %q", got)
	}
	for _, fn := range f.Funcs() {
		if !strings.HasSuffix(fn.Name, ".cold") {
			continue
		}
		var refused *RefusedError
		if _, err := resolve(t, fn.Name, f); !errors.As(err, &refused) {
			t.Errorf("the cold piece %s: %v", fn.Name, err)
		}
		if _, err := resolve(t, fn.Name+"+0x0", f); err != nil {
			t.Errorf("the first instruction of %s: %v", fn.Name, err)
		}
	}
}

func TestMarks(t *testing.T) {
	testenv.Require(t, testenv.SDT)
	f := build(t, "gcc", "marks.c")
	for text, want := range map[string]int{
		"usdt:acc:twice": 2, "usdt:acc:*": 3, "usdt:*:twice": 2, "usdt:marks:acc:twice": 2, "marks:usdt:acc:twice": 2, "usdt:acc:long-name": 1, "usdt:acc:long__name": 1,
	} {
		targets, err := resolve(t, text, f)
		if err != nil || len(targets) != want {
			t.Errorf("%s: %d places, %v", text, len(targets), err)
		}
		for _, target := range targets {
			if target.Mark == nil || target.Mark.PC != target.Vaddr || target.Entry() {
				t.Errorf("%s: %+v", text, target)
			}
		}
	}
	for _, text := range []string{"usdt:other:twice", "usdt:acc:tvice", "usdt:acd:*", "usdt:*:twise"} {
		_, err := resolve(t, text, f)
		checkMissing(t, err, NoMark, "usdt:acc:twice")
		var nf *NotFoundError
		if errors.As(err, &nf) && strings.Count(nf.Hint(), "usdt:acc:twice") != 1 { // the mark is in two places
			t.Errorf("%s: %s", text, nf.Hint())
		}
	}
}

func TestWatchpoints(t *testing.T) {
	f := build(t, "gcc", "prog.c")
	targets, err := resolve(t, "watch:cell/8/w", f)
	if err != nil || len(targets) != 1 || targets[0].Var == nil || targets[0].Vaddr != f.LookupVar("cell")[0].Addr {
		t.Errorf("%+v, %v", targets, err)
	}
	if targets, err := resolve(t, "watch:work/1/x", f); err != nil || targets[0].Func == nil {
		t.Errorf("%+v, %v", targets, err)
	}
	var refused *RefusedError
	for _, text := range []string{"watch:own/8/w", "watch:small/4/w", "watch:small+1/2/w", "watch:small+0xffffffffffffffff/2/w"} {
		if _, err := resolve(t, text, f); !errors.As(err, &refused) {
			t.Errorf("%s: %v", text, err)
		}
	}
	_, err = resolve(t, "watch:cel/8/w", f)
	checkMissing(t, err, NoVariable, "cell")
}

// checkMissing asks for a NotFoundError with a suggestion.
func checkMissing(t *testing.T, err error, what What, suggestion string) {
	t.Helper()
	var nf *NotFoundError
	if !errors.As(err, &nf) || nf.What != what || !slices.Contains(nf.Suggestions, suggestion) ||
		!strings.Contains(nf.Hint(), suggestion) {
		t.Errorf("%v; a missing %s with the suggestion %s expected", err, what, suggestion)
	}
}

func TestMissing(t *testing.T) {
	f := build(t, "gcc", "prog.c")
	_, err := resolve(t, "wrok", f)
	checkMissing(t, err, NoFunction, "work")
	if !strings.Contains(err.Error(), `"wrok" in prog`) {
		t.Error(err)
	}
	_, err = resolve(t, "pro:work", f)
	checkMissing(t, err, NoModule, "prog")
	_, err = resolve(t, "porg:work", f)
	checkMissing(t, err, NoModule, "prog")
	if _, err := resolve(t, "nothing_*", f); err == nil || !strings.Contains(err.Error(), "nothing_*") {
		t.Error(err)
	}
	if _, err := resolve(t, "work"); err == nil {
		t.Error("found in no module")
	}
}

// fakeLines has code for lines 4 and 9 of a.c.
type fakeLines struct{ addr uint64 }

func (l fakeLines) AddrsOf(file string, line int) ([]uint64, []int, error) {
	switch {
	case file != "a.c":
		return nil, nil, nil
	case line == 4:
		return []uint64{l.addr}, nil, nil
	case line == 5:
		return nil, []int{4, 9}, nil
	}
	return nil, nil, errors.New("damaged line table")
}

func TestLines(t *testing.T) {
	f := build(t, "gcc", "prog.c")
	r := Resolver{Lines: func(f *module.File) (Lines, error) { return fakeLines{f.Lookup("work")[0].Func.Addr}, nil }}
	at := func(file string, line int) ([]Target, error) {
		return r.ResolveAll(Spec{Kind: Line, File: file, Line: line}, []*module.File{f})
	}
	if targets, err := at("a.c", 4); err != nil || len(targets) != 1 || targets[0].Symbol != "work" || targets[0].Name != "prog:@a.c:4" {
		t.Errorf("%+v, %v", targets, err)
	}
	if _, err := at("a.c", 5); err == nil || !strings.Contains(err.Error(), "a.c:5") || !strings.Contains(err.Error(), "4, 9") {
		t.Error(err)
	}
	if _, err := at("b.c", 5); err == nil || !strings.Contains(err.Error(), "b.c:5") {
		t.Error(err)
	}
	if _, err := at("a.c", 6); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Error(err)
	}
	r.Lines = nil
	var nf *NotFoundError
	if _, err := at("a.c", 4); !errors.As(err, &nf) || nf.What != NoLine {
		t.Errorf("without debug information: %v", err)
	}
}

func TestOrderOfSearch(t *testing.T) {
	main := build(t, "gcc", "prog.c")
	lib := build(t, "gcc", "prog.c", "-Dworker=librarian", "-DSECOND")
	libPath := filepath.Join(filepath.Dir(lib.Path), "libprog.so.1")
	if err := os.Rename(lib.Path, libPath); err != nil {
		t.Fatal(err)
	}
	lib = open(t, libPath)
	for text, want := range map[string][]string{
		"work":         {"prog:work"},
		"librarian":    {"libprog.so.1:librarian"},
		"libprog:work": {"libprog.so.1:work"},
		"*prog*:work":  {"prog:work", "libprog.so.1:work"},
		"prog:work":    {"prog:work"},
	} {
		if got := names(t, text, main, lib); !slices.Equal(got, want) {
			t.Errorf("%s is %q, want %q", text, got, want)
		}
	}
}

func TestListedLinesAreSpecs(t *testing.T) {
	for _, c := range []struct{ compiler, source, text string }{
		{"gcc", "prog.c", "*work*"}, {"gcc", "prog.c", "work+*"}, {"g++", "shapes.cc", "geo::*"}, {"gcc", "prog.c", "main"},
		{"gcc", "prog.c", "watch:cell/8/w"},
	} {
		f := build(t, c.compiler, c.source)
		s, err := Parse(c.text)
		if err != nil {
			t.Fatal(err)
		}
		r := Resolver{Boundaries: decode}
		lines, err := r.List(s, f)
		if err != nil || len(lines) == 0 {
			t.Fatalf("%s: %d lines, %v", c.text, len(lines), err)
		}
		for _, line := range lines {
			targets, err := resolve(t, line.Text, f)
			if err != nil || len(targets) != 1 || targets[0].Vaddr != line.Target.Vaddr {
				t.Errorf("%s listed as %s is %+v, %v", c.text, line.Text, targets, err)
			}
		}
		if c.text == "*work*" && len(lines) != 3 {
			t.Errorf("%d lines; aliases are listed", len(lines))
		}
	}
}

func TestListOfMarks(t *testing.T) {
	testenv.Require(t, testenv.SDT)
	f := build(t, "gcc", "marks.c")
	r := Resolver{}
	lines, err := r.List(Spec{Kind: Mark, Provider: "acc", Name: "*"}, f)
	if err != nil || len(lines) != 2 {
		t.Fatalf("%+v, %v", lines, err)
	}
	for _, line := range lines {
		if line.Text != "usdt:acc:twice" && line.Text != "usdt:acc:long__name" {
			t.Errorf("%q", line.Text)
		}
	}
	if _, err := r.List(Spec{Name: "nothing_like_it"}, f); err == nil {
		t.Error("a listing of nothing")
	}
}

// TestModuleByItsFile: a path means the file that it leads to, whatever the process calls it: in a container, whose
// files are below /proc/PID/root, the name is another, and on an overlay the numbers of the file are, too.
func TestModuleByItsFile(t *testing.T) {
	f := build(t, "gcc", "prog.c", "-Wl,--build-id")
	other := build(t, "gcc", "prog.c", "-DSECOND", "-Wl,--build-id")
	here, root := f.Path, "/proc/self/root"
	spec := func(path string) []*module.File {
		return Candidates(Spec{Kind: Function, Module: path}, []*module.File{f, other})
	}
	for _, c := range []struct {
		called      string // by the process
		sameNumbers bool
		named       string // by the user
		found       bool
	}{
		{called: here, sameNumbers: true, named: root + here, found: true},
		{called: "/inner/prog", sameNumbers: true, named: root + here, found: true},
		{called: "/inner/prog", sameNumbers: true, named: here, found: true},
		{called: "/inner/prog", sameNumbers: true, named: root + other.Path},
		{called: here, named: root + here, found: true},
		{called: "/inner/prog", named: root + here},
		{called: here, sameNumbers: true, named: root + "/no/such/file"},
	} {
		was := f.Identity
		f.Path = c.called
		if !c.sameNumbers {
			f.Inode += 1 << 40
		}
		got := slices.Contains(spec(c.named), f)
		f.Identity = was
		if got != c.found {
			t.Errorf("%s of a process that calls it %s, numbers the same %v: %v", c.named, c.called, c.sameNumbers, got)
		}
	}
}

// TestMainProgram: a.out is the first file, whatever its name is, and a module part means the files that it matches.
func TestMainProgram(t *testing.T) {
	files := []*module.File{{Identity: module.Identity{Path: "/bin/prog"}}, {Identity: module.Identity{Path: "/lib/libm.so.6"}}}
	if got := Candidates(Spec{Module: MainProgram, Name: "f"}, files); len(got) != 1 || got[0] != files[0] {
		t.Errorf("%v", got)
	}
	for name, want := range map[string][2]bool{"": {true, true}, MainProgram: {true, false}, "libm": {false, true}, "prog": {true, false}, "libz": {}} {
		for i, f := range files {
			if InModule(Spec{Module: name}, f, files) != want[i] {
				t.Errorf("%q means %s: %v", name, f.Path, !want[i])
			}
		}
	}
}
