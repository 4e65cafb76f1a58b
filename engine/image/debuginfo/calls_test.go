package debuginfo_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gotap/compile"
	"gotap/engine/image/debuginfo"
	"gotap/engine/testenv"
	"gotap/engine/testenv/fixture"
)

// Generated functions with arguments and results of all types, called once each with values that the generator wrote.
// At the entry and after the return every scalar in them has to be read with the value it was written with, or to be
// refused with a reason. gdb says the same of what it can read, or the generator is wrong.

// value is a scalar that a generated call passes or returns: how a script names it, and what it is; "" for one that is
// not a number.
type value struct {
	path []string
	want string
	bits uint // of a floating-point number that is compared as such: those of its significand
}

// scalarAt is a scalar that is read as it was written.
func scalarAt(path []string, want string) value { return value{path: path, want: want} }

// generated is a function that a generator wrote.
type generated struct {
	symbol  string // in the symbol table, which is the name that gdb gets
	text    string // its definition
	call    string
	args    []value
	results [][]value // Go has several
}

// language writes programs of generated functions.
type language interface {
	// function writes the function of a number.
	function(n int) generated
	// sources are the files of a program with these functions, by name; the first commands build it.
	sources(functions []generated) map[string]string
}

// toolchain is a compiler with its options: shell commands that build the program "out" of the sources.
type toolchain struct {
	name  string
	needs []testenv.Need
	build []string
	lang  func(*rand.Rand) language
	gdb   bool // understands the language's expressions, and unwinds its stack
	c     bool // gdb is to take the language for C
}

// toolchains are the compilers, whose commands have %s for the level of optimisation.
func toolchains() []toolchain {
	c := func(compiler, ext, more string) []string {
		return []string{compiler + " -g -w %s " + more + " -c -o callees.o callees." + ext, compiler + " -w -O0 " + more + " -c -o callers.o callers." + ext, compiler + " -o out callees.o callers.o"}
	}
	newC := func(cpp bool) func(*rand.Rand) language {
		return func(r *rand.Rand) language { return &cLanguage{rnd: r, cpp: cpp} }
	}
	return []toolchain{
		{"gcc", []testenv.Need{testenv.GCC}, c("gcc", "c", ""), newC(false), true, false},
		{"clang", []testenv.Need{testenv.Clang}, c("clang", "c", ""), newC(false), true, false},
		{"g++", []testenv.Need{testenv.GXX}, c("g++", "cc", "-std=c++17"), newC(true), true, false},
		{"clang++", []testenv.Need{testenv.Clang}, c("clang++", "cc", "-std=c++17"), newC(true), true, false},
		{"rustc", []testenv.Need{testenv.Rust}, []string{"rustc -g %s --crate-name out -o out main.rs"}, newRust, false, true},
		{"go", nil, []string{"go build %s -o out main.go"}, newGo, false, true},
	}
}

// levels are the options for -O0, -O1 and -O2 by compiler.
func levels(compiler string) []string {
	switch compiler {
	case "rustc":
		return []string{"-C opt-level=0", "-C opt-level=1", "-C opt-level=2"}
	case "go":
		return []string{"-gcflags=-N", "-gcflags=-l", "-gcflags="}
	}
	return []string{"-O0", "-O1", "-O2"}
}

// TestGeneratedCalls compares a sample: each compiler at one level. GOTAP_LONG has 1,000 functions of each at all
// levels.
func TestGeneratedCalls(t *testing.T) {
	testenv.Require(t, testenv.Time, testenv.GDB, testenv.AMD64, testenv.Ptrace)
	long := os.Getenv("GOTAP_LONG") != ""
	for i, tc := range toolchains() {
		for level, flags := range levels(tc.name) {
			if !long && level != i%3 {
				continue
			}
			t.Run(fmt.Sprintf("%s-O%d", tc.name, level), func(t *testing.T) {
				testenv.Require(t, tc.needs...)
				functions, rounds := 30, 1
				if long {
					functions, rounds = 50, 20
				}
				var sum comparison
				for round := range rounds {
					compareCalls(t, &tc, flags, functions, int64(100*i+10*level+1000*round+1), &sum)
				}
				t.Logf("%+v", sum)
				if level == 0 && sum.odd > sum.gdb/20 {
					t.Errorf("gdb reads %d values otherwise than they were written: is the generator wrong?", sum.odd)
				}
				if sum.equal < functions*2 {
					t.Errorf("only %d values were read", sum.equal)
				}
			})
		}
	}
}

// comparison counts values.
type comparison struct {
	equal, refused, wrong int
	gdb, odd              int // that gdb reads as they were written, and otherwise
}

// compareCalls generates a program and compares its calls.
func compareCalls(t *testing.T, tc *toolchain, flags string, count int, seed int64, sum *comparison) {
	lang := tc.lang(rand.New(rand.NewSource(seed)))
	var functions []generated
	for n := range count {
		functions = append(functions, lang.function(n))
	}
	compareFunctions(t, tc, buildGenerated(t, tc, flags, lang.sources(functions)), functions, seed, sum)
}

// compareFunctions compares the calls of functions in a program.
func compareFunctions(t *testing.T, tc *toolchain, p *program, functions []generated, seed int64, sum *comparison) {
	t.Helper()
	moments := p.calls(t, tc, functions)
	for _, f := range functions {
		stops := moments[f.symbol]
		entry, body, back := stops["entry"], stops["body"], stops["return"]
		if entry == nil || back == nil {
			t.Errorf("seed %d: %s was not called", seed, f.symbol)
			continue
		}
		addr := entry.pc()
		for _, v := range f.args {
			a, err := p.info.Access(addr, v.path)
			compareGenerated(t, p, entry, a, err, v, seed, f, sum)
			agreesWithGDB(t, body, v.inC(""), v, f, sum)
		}
		for i, list := range f.results {
			for _, v := range list {
				a, err := p.info.ResultAccess(addr, i, v.path...)
				back.entry = entry
				compareGenerated(t, p, back, a, err, v, seed, f, sum)
				agreesWithGDB(t, back, v.inC("result"), v, f, sum)
			}
		}
	}
}

// indexed is a path as C writes it, in parts.
func indexed(path []string) (parts []string) {
	for i, name := range path {
		switch _, err := strconv.Atoi(name); {
		case err == nil:
			name = "[" + name + "]"
		case i > 0:
			name = "." + name
		}
		parts = append(parts, name)
	}
	return parts
}

// compareGenerated compares one value.
func compareGenerated(t *testing.T, p *program, s *stop, a compile.Access, err error, v value, seed int64, f generated, sum *comparison) {
	t.Helper()
	got := ""
	if err == nil && isNumber(a) {
		got, err = s.evalText(a)
	}
	switch {
	case err != nil && v.want == "":
		sum.equal++
	case err != nil:
		sum.refused++
		t.Logf("%s: %s: %v", f.symbol, strings.Join(v.path, "."), err)
		if unknown := new(debuginfo.UnknownError); errors.As(err, &unknown) {
			t.Errorf("seed %d: %s: %v", seed, f.text, err)
		}
	case v.same(got):
		sum.equal++
	default:
		if sum.wrong++; sum.wrong < 8 {
			t.Errorf("seed %d: %s: %s is %q (%+v), want %q", seed, f.text, strings.Join(v.path, "."), got, a, v.want)
		}
	}
}

// agreesWithGDB counts whether gdb reads the value that the generator wrote. gdb errs where optimised code has not yet,
// or no longer, the value where it says, and in results of few types.
func agreesWithGDB(t *testing.T, s *stop, expression string, v value, f generated, sum *comparison) {
	t.Helper()
	if s == nil || s.Values[expression] == nil || v.want == "" {
		return
	}
	if v.same(*s.Values[expression]) {
		sum.gdb++
	} else {
		sum.odd++
		t.Logf("%s: gdb has %s for %s, written as %s", f.text, *s.Values[expression], expression, v.want)
	}
}

// buildGenerated builds a program.
func buildGenerated(t *testing.T, tc *toolchain, flags string, sources map[string]string) *program {
	t.Helper()
	dir := t.TempDir()
	for name, text := range sources {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, command := range tc.build {
		args := strings.Fields(strings.ReplaceAll(command, "%s", flags))
		cmd := fixture.Command(args[0], args[1:]...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=-trimpath", "GO111MODULE=off", "CGO_ENABLED=0")
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%.4000s", command, err, text)
		}
	}
	return open(t, filepath.Join(dir, "out"))
}

// calls runs the program under gdb and returns what was recorded, by function and moment.
func (p *program) calls(t *testing.T, tc *toolchain, functions []generated) map[string]map[string]*stop {
	t.Helper()
	var places, asked []string
	for _, f := range functions {
		places = append(places, fmt.Sprintf("%s=%d", f.symbol, p.entryOf(t, f.symbol)))
		var list []string
		for _, v := range f.args {
			list = append(list, v.inC(""))
		}
		for _, v := range slices.Concat(f.results...) {
			list = append(list, v.inC("result"))
		}
		asked = append(asked, f.symbol+"="+strings.Join(list, ","))
	}
	to := filepath.Join(t.TempDir(), "record")
	cmd := exec.Command("gdb", "-batch", "-nx", "-iex", "set auto-load no", "-x", "testdata/calls.py", p.path)
	cmd.Env = append(os.Environ(), "RECORD="+to, "PLACES="+strings.Join(places, " "), "DEBUGINFOD_URLS=")
	if p.isRelocated() {
		cmd.Env = append(cmd.Env, "MOVED=yes")
	} else {
		cmd.Env = append(cmd.Env, "MOVED=no")
	}
	if tc.gdb {
		cmd.Env = append(cmd.Env, "EXPRESSIONS="+strings.Join(asked, ";"))
	} else {
		cmd.Env = append(cmd.Env, "FINISH=no")
	}
	entered := "main"
	if tc.name == "go" {
		entered = "*" + strconv.FormatUint(p.address(t, "main.main"), 10)
	}
	cmd.Env = append(cmd.Env, "MAIN="+entered)
	if tc.c {
		cmd.Env = append(cmd.Env, "LANGUAGE=c")
	}
	text, _ := cmd.CombinedOutput()
	f, err := os.Open(to)
	if err != nil {
		t.Fatalf("gdb recorded nothing: %v\n%s", err, text)
	}
	defer f.Close()
	dec := json.NewDecoder(f)
	var first struct{ Start uint64 }
	if err := dec.Decode(&first); err != nil {
		t.Fatalf("cannot read the record: %v\n%s", err, text)
	}
	moments := map[string]map[string]*stop{}
	for dec.More() {
		s := &stop{word: 8}
		var at struct {
			stop
			Moment string
		}
		if err := dec.Decode(&at); err != nil {
			t.Fatal(err)
		}
		*s = at.stop
		s.word = 8
		if p.isRelocated() {
			s.bias = first.Start
		}
		if moments[s.Function] == nil {
			moments[s.Function] = map[string]*stop{}
		}
		// A function of Go begins once more when its stack has grown; parameters that it does not use are lost then.
		if moments[s.Function][at.Moment] == nil {
			moments[s.Function][at.Moment] = s
		}
	}
	if len(moments) == 0 {
		t.Fatalf("gdb never stopped\n%s", text)
	}
	return moments
}

// entryOf is the address of a generated function. In C++ its symbol has its types as well.
func (p *program) entryOf(t *testing.T, name string) uint64 {
	t.Helper()
	symbols, err := p.elf.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	mangled := fmt.Sprintf("_Z%d%s", len(name), name)
	for _, s := range symbols {
		if rest, ok := strings.CutPrefix(s.Name, mangled); s.Name == name || ok && s.Value != 0 && !strings.Contains(rest, ".") { // not "….cold"
			return s.Value
		}
	}
	t.Fatalf("no symbol %s in %s", name, p.path)
	return 0
}
