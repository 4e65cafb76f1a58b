package module

import (
	"maps"
	"strings"
	"testing"

	"gotap/engine/image/symtab"
	"gotap/engine/testenv"
)

// TestExportsAsNmPrintsThem: the exported functions of libraries and programs are those of nm -D, each with its
// address.
func TestExportsAsNmPrintsThem(t *testing.T) {
	testenv.Require(t, testenv.NM, testenv.GCC)
	static := build(t, "gcc", "-static", "names.c", "names2.c")
	for _, path := range []string{library(t, "libc.so.6"), library(t, "libstdc++.so.6"), static, build(t, "gcc", "-rdynamic", "names.c", "names2.c")} {
		f := open(t, path)
		want := map[export]bool{}
		if path != static { // nm -D refuses it
			for _, s := range nm(t, path, "-D", "--defined-only") {
				if strings.Contains("TWi", s.typ) && f.IsText(s.addr) { // W is weak data, too
					want[export{s.name, s.addr}] = true
				}
			}
		}
		names := f.Exports()
		if got := exportsOf(f); !maps.Equal(got, want) {
			t.Errorf("%s: %d functions are exported, by nm %d", path, len(got), len(want))
		}
		if names.Empty() != (path == static) {
			t.Errorf("%s: Empty is %v", path, names.Empty())
		}
		for key := range want {
			if !hasAt(names.Of(key.name), key.addr) {
				t.Errorf("%s: %s is not exported at %#x", path, key.name, key.addr)
			}
		}
	}
}

// export is a name that a file exports for an address.
type export struct {
	name string
	addr uint64
}

// exportsOf asks for every name of every function whether it is exported.
func exportsOf(f *File) map[export]bool {
	found, exports := map[export]bool{}, f.Exports()
	for _, fn := range f.Funcs() {
		for _, name := range append([]string{fn.Name}, fn.Aliases...) {
			if hasAt(exports.Of(name), fn.Addr) {
				found[export{name, fn.Addr}] = true
			}
		}
	}
	return found
}

func hasAt(found []symtab.Match, addr uint64) bool {
	for _, m := range found {
		if m.Func.Addr == addr {
			return true
		}
	}
	return false
}

// TestLookupExported: static functions are not among the exported ones, whatever the pattern.
func TestLookupExported(t *testing.T) {
	f := open(t, library(t, "libc.so.6"))
	all, exported := map[string]bool{}, map[string]bool{}
	for _, m := range f.Names("mem*") {
		all[m.Name] = true
	}
	for _, m := range f.Exports().Names("mem*") {
		exported[m.Name] = true
	}
	for name := range exported {
		if !all[name] || !hasAt(f.Lookup(name), f.Exports().Lookup(name)[0].Func.Addr) {
			t.Errorf("%s is exported only", name)
		}
	}
	if len(exported) < 5 || !exported["memchr"] {
		t.Errorf("exported: %v", exported)
	}
	program := open(t, build(t, "gcc", "names.c", "names2.c"))
	if got := program.Exports().Lookup("main"); len(got) > 0 || len(program.Lookup("main")) == 0 {
		t.Errorf("a program without -rdynamic exports main: %v", got)
	}
}
