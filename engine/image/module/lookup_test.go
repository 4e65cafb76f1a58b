package module

import (
	"path"
	"slices"
	"strings"
	"testing"

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
			if isCold(m.Func.Name) {
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

// TestDemangleAsNMDoes compares all names of libstdc++ with binutils.
func TestDemangleAsNMDoes(t *testing.T) {
	testenv.Require(t, testenv.NM)
	path := library(t, "libstdc++.so.6")
	raw := strings.Split(command(t, "nm", "-D", "-p", "-j", "--defined-only", path), "\n")
	want := strings.Split(command(t, "nm", "-D", "-p", "-j", "-C", "--defined-only", path), "\n")
	names, differ := 0, 0
	for i, name := range raw {
		name, _, _ = strings.Cut(name, "@")
		if !isMangled(name) {
			continue
		}
		names++
		w, _, _ := strings.Cut(want[i], "@")
		if got := Demangle(name, true); got != w {
			if differ++; differ < 5 {
				t.Logf("%s is %q, nm says %q", name, got, w)
			}
		}
	}
	if names < 1000 || differ > names/500 {
		t.Errorf("%d of %d names differ", differ, names)
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

// TestFilterLosesNothing compares the cheap choice of candidates with demangling every name.
func TestFilterLosesNothing(t *testing.T) {
	f := open(t, library(t, "libstdc++.so.6"))
	for _, pattern := range []string{
		"std::ostream::write", "std::*::write", "std::string::append", "std::basic_*::flush", "operator new", "operator*",
		"std::__cxx11::basic_string<*>::append", "*::~*", "*_M_*", "std::lo[a-d]ale::*", "__gnu_cxx::*", "std::*wchar_t*get*", "std::ios_base::Init::*",
		"std::chrono::*::now", "s*", "*string*::find",
	} {
		want := map[*Func]bool{}
		s := f.table()
		for _, n := range s.names {
			d, ok := f.names.of(n.name)
			if ok && !isCold(n.name) && (matches(pattern, d.plain) || matches(pattern, d.bare) || matches(pattern, signature(n.name))) {
				want[&s.funcs[n.of]] = true
			}
		}
		got := map[*Func]bool{}
		for _, m := range f.Lookup(pattern) {
			got[m.Func] = true
		}
		for fn := range want {
			if !got[fn] && !(strings.Contains(pattern, "(") == false && !matches(pattern, fn.Demangled())) {
				t.Errorf("%s misses %s", pattern, fn.Demangled())
			}
		}
		if len(got) == 0 {
			t.Errorf("%s finds nothing", pattern)
		}
	}
}

func matches(pattern, name string) bool {
	return pattern == name || IsGlob(pattern) && Glob(pattern, name)
}

func TestBareNames(t *testing.T) {
	for name, want := range map[string]string{
		"geo::twice<long>": "geo::twice",
		"std::vector<int, std::allocator<int> >::size": "std::vector::size",
		"a::operator<":                     "a::operator<",
		"a::operator<< <int>":              "a::operator<<",
		"a::operator->":                    "a::operator->",
		"a::operator<=>":                   "a::operator<=>",
		"a<int>::operator-><long>":         "a::operator->",
		"<rusty::Counter>::bump":           "rusty::Counter::bump",
		"<a::B<u8>>::c::<u16>":             "a::B::c",
		"core::ptr::drop_in_place::<a::B>": "core::ptr::drop_in_place",
		"<A as B>::c":                      "<A as B>::c",
		"f<&(a::b<int>)>::g":               "f::g",
		"<":                                "<",
		"a<b":                              "a<b",
		"":                                 "",
	} {
		if got := bareName(name); got != want {
			t.Errorf("bareName(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestClones(t *testing.T) {
	for name, want := range map[string]string{
		"f.cold": ".cold", "f.constprop.0": ".constprop.0", "f.part.0.cold": ".part.0.cold", "f": "", "f.isra.0": ".isra.0",
		"main.work": "", "main.(*T).Method": "", ".cold": "", "f.llvm.123": ".llvm.123",
	} {
		if got := cloneSuffix(name); got != want {
			t.Errorf("cloneSuffix(%q) = %q, want %q", name, got, want)
		}
	}
	if !isPart("f.part.0") || !isPart("f.cold") || isPart("f.constprop.0") || isPart("cold.f") {
		t.Error("pieces and changed copies are mixed up")
	}
}

func TestConstBehindItsType(t *testing.T) {
	for given, want := range map[string]string{
		"(const char*)": "(char const*)", "(int, const a::B &)": "(int, a::B const &)", "(const unsigned long*)": "(unsigned long const*)",
		"(char const*) const": "(char const*) const", "() const": "() const", "(constant)": "(constant)",
		"(const std::string, const int)": "(std::string const, int const)",
	} {
		if got := constBehind(given); got != want {
			t.Errorf("constBehind(%q) = %q, want %q", given, got, want)
		}
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

func TestEditDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"work", "wrok", 1}, {"work", "Work", 0}, {"malloc", "mallok", 1}, {"abc", "", 3}, {"kitten", "sitting", 3}, {"a", "zzzzzz", 5}} {
		if got := within(c.a, c.b, 4); got != c.want {
			t.Errorf("within(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

// FuzzGlob compares with path.Match, which knows the same wildcards but stops at slashes.
func FuzzGlob(f *testing.F) {
	for _, p := range []string{"a*b", "*", "?", "[a-c]x", "[^a]", `\*`, "a**b", "[]", "[a", "*?*", "geo::*", "a*b*c"} {
		f.Add(p, "aXb")
		f.Add(p, "abc")
	}
	f.Fuzz(func(t *testing.T, pattern, name string) {
		got := Glob(pattern, name)
		plain := func(s string) bool {
			return strings.IndexFunc(s, func(r rune) bool { return r >= 0x80 || r == '/' }) < 0
		}
		if !plain(pattern) || !plain(name) || strings.ContainsAny(pattern, `[]\`) && !simpleSets(pattern) {
			return
		}
		if want, err := path.Match(pattern, name); err == nil && got != want {
			t.Errorf("Glob(%q, %q) = %v", pattern, name, got)
		}
	})
}

// simpleSets reports whether the sets of a pattern mean the same here and in package path.
func simpleSets(pattern string) bool {
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '\\', ']':
			return false
		case '[':
			n := setLen(pattern[i:])
			if n < 3 || strings.ContainsAny(pattern[i+1:i+n-1], `-!^\[`) {
				return false
			}
			i += n - 1
		}
	}
	return true
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
