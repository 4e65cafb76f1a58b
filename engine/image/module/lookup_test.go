package module

import (
	"slices"
	"strings"
	"testing"

	"gotap/engine/image/symname"
	"gotap/engine/testenv"
)

// found lists what a pattern finds, as reported.
func found(f *File, pattern string) []string {
	names := []string{}
	for _, m := range f.Lookup(pattern) {
		names = append(names, m.Name)
	}
	slices.Sort(names)
	return names
}

func TestCxxNames(t *testing.T) {
	testenv.Require(t, testenv.GXX)
	f := open(t, build(t, "g++", "-O2", "shapes.cc"))
	for _, c := range []struct {
		pattern string
		want    []string
	}{
		{"geo::Square::area", []string{"geo::Square::area"}},
		{"geo::Square::grow", []string{"geo::Square::grow", "geo::Square::grow"}},
		{"geo::Square::grow(int)", []string{"geo::Square::grow"}},
		{"geo::Square::grow( int )", []string{"geo::Square::grow"}},
		{"geo::Square::area()", []string{"geo::Square::area"}},
		{"geo::Square::operator+(const geo::Square &)", []string{"geo::Square::operator+"}},
		{"geo::Square::operator+(geo::Square const&)", []string{"geo::Square::operator+"}},
		{"geo::Square::area() const", []string{"geo::Square::area"}},
		{"geo::Square::operator+", []string{"geo::Square::operator+"}},
		{"geo::Square::operator<", []string{"geo::Square::operator<"}},
		{"geo::Square::operator[]", []string{"geo::Square::operator[]"}},
		{"geo::Square::operator()", []string{"geo::Square::operator()"}},
		{"geo::Square::oper*", []string{"geo::Square::operator()", "geo::Square::operator+", "geo::Square::operator<",
			"geo::Square::operator[]"}},
		{"geo::twice<long>", []string{"geo::twice<long>"}},
		{"geo::twice< long >", []string{"geo::twice<long>"}},
		{"geo::tw*< long >", []string{"geo::twice<long>"}},
		{"geo::twice", []string{"geo::twice<double>", "geo::twice<int>", "geo::twice<long>"}},
		{"geo::twice*", []string{"geo::twice<double>", "geo::twice<int>", "geo::twice<long>"}},
		{"geo::twice<long>(long)", []string{"geo::twice<long>"}},
		{"geo::many", []string{"geo::many<int>"}},
		{"geo::tagged", []string{"geo::tagged"}},
		{"geo::(anonymous namespace)::unseen", []string{"geo::(anonymous namespace)::unseen"}},
		{"*unseen", []string{"geo::(anonymous namespace)::unseen"}},
		{"geo::thrower", []string{"geo::thrower"}},
		{"global_function", []string{"global_function"}},
		{"global_fun*", []string{"global_function"}},
		{"_ZN3geo6Square4growEi", []string{"_ZN3geo6Square4growEi"}},
		{"_ZN3geo6Square4grow*", []string{"_ZN3geo6Square4growEd", "_ZN3geo6Square4growEi"}},
		{"Square::area", []string{}},
		{"area", []string{}},
		{"function", []string{}},
		{"geo::Square::gro", []string{}},
	} {
		if got := found(f, c.pattern); !slices.Equal(got, c.want) {
			t.Errorf("Lookup(%q) = %q, want %q", c.pattern, got, c.want)
		}
	}
	if v := f.LookupVar("geo::count"); len(v) != 1 || v[0].Size != 8 {
		t.Errorf("variable geo::count: %v", v)
	}
	for _, m := range f.Names("geo::*") {
		if got := f.Lookup(m.Name); len(got) != 1 && !strings.Contains(m.Name, "operator") {
			t.Errorf("the listed name %q finds %d functions", m.Name, len(got))
		}
	}
}

func TestColdPiecesAreNoEntries(t *testing.T) {
	testenv.Require(t, testenv.GXX)
	f := open(t, build(t, "g++", "-O2", "shapes.cc"))
	cold := ""
	for _, fn := range f.Funcs() {
		if strings.HasSuffix(fn.Name, ".cold") {
			cold = fn.Name
		}
	}
	if cold == "" {
		testenv.Lack(t, testenv.ColdPiece)
	}
	if m := f.Lookup(cold); len(m) != 1 || !m[0].Part {
		t.Errorf("%s by name: %v", cold, m)
	}
	for _, pattern := range []string{"*", "*.cold", "geo::*"} {
		for _, m := range f.Lookup(pattern) {
			if symname.IsCold(m.Func.Name) {
				t.Errorf("%s finds %s", pattern, m.Func.Name)
			}
		}
	}
}

func TestRustNames(t *testing.T) {
	testenv.Require(t, testenv.Rust)
	for _, mangling := range []string{"legacy", "v0"} {
		t.Run(mangling, func(t *testing.T) {
			flags := []string{"-g", "-C", "opt-level=1", "-C", "symbol-mangling-version=" + mangling, "--crate-name", "rusty", "rusty.rs"}
			if mangling == "legacy" { // only the nightly compiler takes the flag; the stable one has it as default
				flags = append(flags[:3:3], flags[5:]...)
			}
			f := open(t, build(t, "rustc", flags...))
			for pattern, want := range map[string]int{
				"rusty::shape::area": 1, "*Counter*bump": 1, "rusty::Counter::bump": 1, "rusty::shape::twice": 2, "rusty::shape::twice*": 2,
				"rusty::main": 1, "shape::area": 0,
			} {
				if got := found(f, pattern); len(got) != want {
					t.Errorf("Lookup(%q) = %q, want %d", pattern, got, want)
				}
			}
		})
	}
}

func TestSpelledOutStandardNames(t *testing.T) {
	f := open(t, library(t, "libstdc++.so.6"))
	short := found(f, "std::ostream::flush")
	for _, long := range []string{"std::basic_ostream<char, std::char_traits<char> >::flush", "std::basic_ostream<char*>::flush"} {
		if got := found(f, long); len(short) == 0 || !slices.Equal(got, short) {
			t.Errorf("%s finds %q, the short name %q", long, got, short)
		}
	}
	if got := found(f, "std::basic_ostream::flush"); len(got) != 2 {
		t.Errorf("all instances of basic_ostream::flush: %q", got)
	}
}

// TestGenericsOfGo finds generic functions as programs, tracebacks and people write them.
func TestGenericsOfGo(t *testing.T) {
	f := open(t, buildGo(t, nil))
	for _, pattern := range []string{"main.Map", "main.Map[...]", "main.Map[*]", "main.M?p[go.shape.*]", "main.Map[go.*"} {
		got := found(f, pattern)
		if len(got) == 0 || !strings.HasPrefix(got[0], "main.Map[go.shape.") {
			t.Errorf("Lookup(%q) = %q", pattern, got)
		}
	}
}

func TestSuggest(t *testing.T) {
	testenv.Require(t, testenv.GXX)
	f := open(t, build(t, "g++", "-O2", "shapes.cc"))
	for asked, want := range map[string]string{
		"Square::area": "geo::Square::area", "geo::Sqare::area": "geo::Square::area", "geo::Square::aera": "geo::Square::area",
		"Square::operator[]": "geo::Square::operator[]", "Square::operator+": "geo::Square::operator+",
		"area": "geo::Square::area", "mian": "main", "thrower": "geo::thrower", "global_functoin": "global_function",
		"global_function@@GLIBC_2.14": "global_function",
	} {
		if got := f.Suggest(asked); len(got) == 0 || got[0] != want {
			t.Errorf("Suggest(%q) = %q, want %q first", asked, got, want)
		}
	}
	if got := f.Suggest("nothing_like_this_anywhere"); len(got) != 0 {
		t.Errorf("suggested %q", got)
	}
}

func BenchmarkLookup(b *testing.B) {
	path := library(b, "libstdc++.so.6")
	for _, pattern := range []string{"malloc", "std::ostream::write", "std::*::write", "*"} {
		b.Run(pattern, func(b *testing.B) {
			for b.Loop() {
				f, err := Open(path)
				if err != nil {
					b.Fatal(err)
				}
				f.Lookup(pattern)
				f.Close()
			}
		})
	}
}
