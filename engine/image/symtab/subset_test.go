package symtab_test

import (
	"debug/elf"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gotap/engine/image/module"
	"gotap/engine/image/symname"
	"gotap/engine/image/symtab"
	"gotap/engine/testenv"
	"gotap/engine/testenv/fixture"
)

// manyFiles are files with many kinds of symbols: C, C++, Go, assembly, 64 and 32 bits, x86 and ARM, stripped and not.
func manyFiles(t *testing.T) (paths []string) {
	t.Helper()
	patterns := []string{"/lib/*/libc.so.6", "/lib64/ld-linux-x86-64.so.2", "/bin/sh"}
	if !testing.Short() { // larger ones
		exe, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		patterns = append(patterns, exe, "/lib32/libc.so.6", "/usr/lib/*/libstdc++.so.6", "/usr/bin/python3", "/usr/arm-linux-gnueabihf/lib/libc.so.6",
			"/usr/aarch64-linux-gnu/lib/libc.so.6")
	}
	for _, pattern := range patterns {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, found...)
	}
	testenv.Require(t, testenv.GCC)
	for name, flags := range map[string][]string{"plain": {"-O2"}, "static": {"-static"}, "stripped": {"-O2", "-s", "-rdynamic"}} {
		out := filepath.Join(t.TempDir(), name)
		if said, err := fixture.Command("gcc", append(flags, "-o", out, "../module/testdata/names.c", "../module/testdata/names2.c")...).CombinedOutput(); err != nil {
			t.Fatalf("gcc: %v\n%s", err, said)
		}
		paths = append(paths, out)
	}
	return paths
}

// open opens a file until the end of the test.
func open(t *testing.T, path string) *module.File {
	t.Helper()
	f, err := module.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// TestSubsets asks about names, patterns and addresses, and compares the answers from subsets with those from all
// symbols.
func TestSubsets(t *testing.T) {
	for _, path := range manyFiles(t) {
		whole := open(t, path)
		whole.ReadWhole()
		for seed := range uint64(2) {
			c := comparison{t, fmt.Sprintf("%s, seed %d", path, seed), open(t, path), whole}
			c.some(rand.New(rand.NewPCG(seed, 0)))
		}
		c := comparison{t, path, open(t, path), whole}
		for _, name := range []string{"", "main", "malloc", "runtime.main", "no_such_name", "std::string::append", "signal", "strong", "chosen",
			"mem*", "/^mem/", "main.Map[...]", "environ"} {
			c.names(name)
		}
		c.at(0)
		c.at(whole.Entry)
		c.at(^uint64(0))
	}
}

// comparison compares answers of two files, which are the same one.
type comparison struct {
	t              *testing.T
	about          string
	subsets, whole *module.File
}

// some asks about some functions and variables.
func (c comparison) some(r *rand.Rand) {
	if funcs := c.whole.Funcs(); len(funcs) > 0 {
		fn := funcs[r.IntN(len(funcs))]
		all := append([]string{fn.Name}, fn.Aliases...)
		c.names(all[r.IntN(len(all))])
		c.at(fn.Addr)
		c.at(fn.Addr + r.Uint64N(fn.Size+9))
	}
	if vars := c.whole.Vars(); len(vars) > 0 {
		c.names(vars[r.IntN(len(vars))].Name)
	}
}

// names asks about a name, its parts, and patterns.
func (c comparison) names(name string) {
	asked := []string{name}
	if n := len(name); n > 3 {
		asked = append(asked, name[:n-1], name[1:], name[:n/2]+"*", "*"+name[n/2:], name[:1]+"?"+name[2:])
	}
	if readable := symname.Demangle(name, false); readable != name {
		asked = append(asked, readable, symname.Demangle(name, true))
	}
	for _, pattern := range append(asked, symname.WithoutTypeArgs(name)) {
		c.subsets.AskAgain()
		c.same("Lookup", pattern, c.subsets.Lookup(pattern), c.whole.Lookup(pattern))
		c.same("Names", pattern, c.subsets.Names(pattern), c.whole.Names(pattern))
		c.same("LookupVar", pattern, c.subsets.LookupVar(pattern), c.whole.LookupVar(pattern))
		c.same("Exports.Lookup", pattern, c.subsets.Exports().Lookup(pattern), c.whole.Exports().Lookup(pattern))
		c.same("Exports.Names", pattern, c.subsets.Exports().Names(pattern), c.whole.Exports().Names(pattern))
		c.same("Exports.Of", pattern, c.subsets.Exports().Of(pattern), c.whole.Exports().Of(pattern))
		c.renew()
	}
}

// at asks about an address.
func (c *comparison) at(addr uint64) {
	c.renew()
	c.subsets.AskAgain()
	fn, ok := c.subsets.FuncAt(addr)
	want, known := c.whole.FuncAt(addr)
	c.same("FuncAt", addr, fn, want)
	c.same("FuncAt", addr, ok, known)
}

// renew opens the file again if all its symbols have been read, for a question that no subset answers.
func (c *comparison) renew() {
	if c.subsets.IsWhole() {
		c.subsets = open(c.t, c.whole.Path)
	}
}

func (c comparison) same(question string, asked, got, want any) {
	c.t.Helper()
	if v, w := reflect.ValueOf(got), reflect.ValueOf(want); v.Kind() == reflect.Slice && v.Len()+w.Len() == 0 {
		return
	}
	if !reflect.DeepEqual(got, want) {
		c.t.Errorf("%s: %s(%v) = %v, among all symbols %v", c.about, question, asked, got, want)
	}
}

// TestSubsetsAsNMPrintsThem asks a new file for each name, and compares where it is with nm.
func TestSubsetsAsNMPrintsThem(t *testing.T) {
	testenv.Require(t, testenv.NM)
	for _, path := range manyFiles(t) {
		if strings.Contains(path, "stripped") {
			continue
		}
		lines := definedByNM(t, path)
		for i := 0; i < len(lines); i += 1 + len(lines)/16 {
			name, addr := lines[i].name, lines[i].addr
			f := open(t, path)
			if f.Machine == elf.EM_ARM {
				addr &^= 1 // of the instruction set
			}
			if found := f.Lookup(name); !slices.ContainsFunc(found, func(m symtab.Match) bool { return m.Func.Addr == addr }) {
				t.Errorf("%s: nm has %s at %#x, found %v", path, name, addr, found)
			}
			if fn, ok := f.FuncAt(addr); !ok || fn.Addr != addr {
				t.Errorf("%s: nm has %s at %#x, where %v is found", path, name, addr, fn)
			}
			f.Close()
		}
	}
}

// defined is a function.
type defined struct {
	name string
	addr uint64
}

// definedByNM returns the functions of a file that have a size, by its full symbol table, or by the dynamic one if it
// is stripped.
func definedByNM(t *testing.T, path string) (found []defined) {
	t.Helper()
	for _, table := range []string{"--defined-only", "-D"} {
		out, _ := exec.Command("nm", "-S", "--defined-only", table, path).Output() // an error without symbols
		for line := range strings.Lines(string(out)) {
			f := strings.Fields(line)
			if len(f) != 4 || !strings.Contains("tTwW", f[2]) {
				continue
			}
			addr, err := strconv.ParseUint(f[0], 16, 64)
			if err != nil {
				t.Fatal(err)
			}
			name, _, _ := strings.Cut(f[3], "@")
			found = append(found, defined{name, addr})
		}
		if len(found) > 0 {
			break
		}
	}
	return found
}
