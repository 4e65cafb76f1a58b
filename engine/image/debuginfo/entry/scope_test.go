package entry

import (
	"debug/dwarf"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"gotap/engine/image/mapped"
	"gotap/engine/testenv"
	"gotap/engine/testenv/fixture"
)

// nested has namespaces and classes in one another, with functions between and behind them, some of the standard
// library's.
const nested = `
#include <map>
#include <string>
namespace geo {
struct Point { int x; struct Inner { int y; enum Kind { A, B } kind; } inner; };
namespace { struct Hidden { Point p; }; }
namespace deep { template <class T> struct Box { T t; struct Lid { T *of; } lid; int size() { return sizeof(T); } }; }
int count(const std::map<std::string, deep::Box<Point>> &m) { Hidden h{}; return m.size() + h.p.inner.y; }
}
struct Last { geo::deep::Box<Last *> box; };
int last(Last *l) { return l->box.size(); }
int main() { std::map<std::string, geo::deep::Box<geo::Point>> m; Last l{}; return geo::count(m) + last(&l); }
`

// TestScopesAreThoseOfTheWholeList: searching scopes from the outside inwards gives every entry of a program the same
// names as the list of all scopes, in whatever order entries are asked for. clang's entries do not say where the next
// one is.
func TestScopesAreThoseOfTheWholeList(t *testing.T) {
	testenv.Require(t, testenv.GXX, testenv.Clang)
	source := filepath.Join(t.TempDir(), "nested.cc")
	if err := os.WriteFile(source, []byte(nested), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, compiler := range []string{"g++", "clang++"} {
		out := source + "." + compiler
		if text, err := fixture.Command(compiler, "-g", "-o", out, source).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", compiler, err, text)
		}
		for _, backwards := range []bool{false, true} {
			compareScopes(t, out, compiler == "g++", backwards)
		}
	}
}

func compareScopes(t *testing.T, path string, skips, backwards bool) {
	t.Helper()
	img, err := mapped.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer img.Close()
	rd := New(img)
	if err := rd.Load(); err != nil {
		t.Fatal(err)
	}
	inside := 0
	for _, u := range rd.Units() {
		if !u.HasScopes() {
			continue
		}
		if hasSiblings(u) != skips {
			t.Errorf("%s: entries say where the next is: %v", path, !skips)
		}
		around := &scope{lo: u.Root, hi: u.End, next: u.Root}
		for _, off := range offsets(t, rd, u, backwards) {
			got, want := around.names(u, off), listedNames(rd, u, off)
			if !slices.Equal(got, want) {
				t.Fatalf("%s: the entry at %#x is in %q, not %q", path, off, want, got)
			}
			inside += len(want)
		}
	}
	if inside < 1000 {
		t.Errorf("%s: entries are in only %d scopes", path, inside)
	}
}

// offsets are those of all entries of a unit.
func offsets(t *testing.T, rd *Reader, u *Unit, backwards bool) (all []dwarf.Offset) {
	rd.Seek(u.Root)
	for {
		e, err := rd.Next()
		if err != nil {
			t.Fatal(err)
		}
		if e == nil || e.Offset >= u.End {
			break
		}
		if e.Tag != 0 {
			all = append(all, e.Offset)
		}
	}
	if backwards {
		slices.Reverse(all)
	}
	return all
}
