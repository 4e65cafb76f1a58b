package symname

import (
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"

	"gotap/engine/testenv"
)

// namesOf lists the names that libstdc++ exports, as nm prints them.
func namesOf(t *testing.T, flags ...string) []string {
	t.Helper()
	testenv.Require(t, testenv.NM, testenv.GXX)
	library, err := exec.Command("g++", "-print-file-name=libstdc++.so.6").Output()
	if err != nil {
		t.Fatal(err)
	}
	nm := exec.Command("nm", append(flags, "-D", "-p", "-j", "--defined-only", strings.TrimSpace(string(library)))...)
	nm.Env = append(os.Environ(), "LC_ALL=C")
	out, err := nm.Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(string(out), "\n")
}

// TestDemangleAsNMDoes compares all names of libstdc++ with binutils.
func TestDemangleAsNMDoes(t *testing.T) {
	raw, want := namesOf(t), namesOf(t, "-C")
	names, differ := 0, 0
	for i, name := range raw {
		name, _, _ = strings.Cut(name, "@")
		if !IsMangled(name) {
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

// TestFilterLosesNothing compares the cheap choice of candidates with demangling every name.
func TestFilterLosesNothing(t *testing.T) {
	names := namesOf(t)
	var c Cache
	for _, pattern := range []string{
		"std::ostream::write", "std::*::write", "std::string::append", "std::basic_*::flush", "operator new", "operator*",
		"std::__cxx11::basic_string<*>::append", "*::~*", "*_M_*", "std::lo[a-d]ale::*", "__gnu_cxx::*", "std::*wchar_t*get*", "std::ios_base::Init::*",
		"std::chrono::*::now", "s*", "*string*::find",
	} {
		q, found := NewQuery(pattern), 0
		for _, name := range names {
			name, _, _ = strings.Cut(name, "@")
			_, ok := q.Match(&c, name)
			if ok {
				found++
			}
			if plain := Demangle(name, false); !ok && IsMangled(name) && !IsCold(name) && matches(pattern, plain) {
				t.Errorf("%s misses %s", pattern, plain)
			}
		}
		if found == 0 {
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
		if got := CloneSuffix(name); got != want {
			t.Errorf("CloneSuffix(%q) = %q, want %q", name, got, want)
		}
	}
	if !IsPart("f.part.0") || !IsPart("f.cold") || IsPart("f.constprop.0") || IsPart("cold.f") {
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

// TestAlternatives compares the order and number of what braces stand for with bash's.
func TestAlternatives(t *testing.T) {
	testenv.Require(t, testenv.Bash)
	for _, pattern := range []string{"{a,b}", "x{a,b{c,d}}y{e,f}", "{a,}z", "{,}{,}{a,b}", strings.Repeat("{a,b}", 8), "{a,{b,{c,{d,e}}}}", "{{a,b},c}{d,{e,f}}"} {
		text, err := exec.Command("bash", "-c", `printf "%s\n" :`+pattern+":").Output()
		if err != nil {
			t.Fatal(err)
		}
		want := strings.Fields(string(text))
		got := alternatives(pattern)
		for i := range got {
			got[i] = ":" + got[i] + ":"
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", pattern, got, want)
		}
	}
	for _, pattern := range []string{"f{a,b", "{{closure}}", `\{a,b}`, "a::{closure#0},b}", "{a}"} {
		if got := alternatives(pattern); len(got) != 1 || got[0] != pattern {
			t.Errorf("%s: %q", pattern, got)
		}
	}
	if CheckAlternatives(strings.Repeat("{a,b}", 9)) == nil || CheckAlternatives("/a{1,2}/") != nil {
		t.Error("the bound of alternatives")
	}
}
