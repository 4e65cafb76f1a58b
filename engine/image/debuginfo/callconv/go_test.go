package callconv

import (
	"os"
	"runtime"
	"testing"

	"gotap/compile"
	"gotap/engine/image/debuginfo/ctype"
	"gotap/engine/image/debuginfo/entry"
	"gotap/engine/image/debuginfo/function"
	"gotap/engine/image/debuginfo/location"
	"gotap/engine/image/mapped"
	"gotap/engine/testenv"
)

// goProgram builds the Go program that the module tests use too, for a processor, and opens its debug information.
func goProgram(t *testing.T, arch string, flags ...string) *Rules {
	t.Helper()
	img, err := mapped.Open(testenv.GoProgram(t, "../../module/testdata/goprog", []string{"GOARCH=" + arch}, flags...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { img.Close() })
	entries := entry.New(img)
	if err := entries.Load(); err != nil {
		t.Fatal(err)
	}
	functions := function.New(entries)
	return New(entries, ctype.New(entries), functions, location.New(entries))
}

// goFunctions returns all Go functions that have debug information.
func goFunctions(t *testing.T, cv *Rules) []*function.Function {
	t.Helper()
	var all []*function.Function
	for _, u := range cv.entries.Units() {
		if u.Language() != entry.Go {
			continue
		}
		ranges, err := cv.functions.List(u)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range ranges {
			fn, err := cv.functions.At(r.Lo)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, fn)
		}
	}
	return all
}

// TestGoConventionAgreesWithLocationLists compares the places that the convention gives parameters with those that the
// compiler wrote down for the first instruction, over all functions of a program and its libraries.
func TestGoConventionAgreesWithLocationLists(t *testing.T) {
	cv := goProgram(t, runtime.GOARCH)
	equal, unused, other := 0, 0, 0
	for _, fn := range goFunctions(t, cv) {
		values, err := golang{cv}.values(fn, false)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range values {
			loc, ok, err := cv.locations.Of(fn.Unit, v.entry, fn.Low)
			if err != nil || !ok || !loc.List {
				unused++
				continue
			}
			want, err := cv.locations.Locate(fn, fn.Low, loc.Expr)
			if err != nil {
				unused++
				continue
			}
			if !agree(v.place, want) {
				other++
				t.Logf("%s: %s is at %+v, its location list says %+v", cv.entries.QualifiedName(fn.DIE), cv.entries.Name(v.entry), v.place, want)
			} else {
				equal++
			}
		}
	}
	t.Logf("%d parameters agree, %d have no list for the entry", equal, unused)
	// The compiler is a little early with a parameter that is assigned to.
	if equal < 1000 || other > equal/1000 {
		t.Errorf("%d parameters agree, %d do not", equal, other)
	}
}

// TestGoResultsOnTheStack compares the places of arguments and results, where both are on the stack, with those that
// the compiler writes down when it does not optimise.
func TestGoResultsOnTheStack(t *testing.T) {
	for _, arch := range []string{"386", "arm"} {
		if arch == "arm" && os.Getenv("GOTAP_LONG") == "" { // the library has to be compiled again
			continue
		}
		cv := goProgram(t, arch, "-gcflags=all=-N")
		equal, other := [2]int{}, 0
		for _, fn := range goFunctions(t, cv) {
			for kind, results := range []bool{false, true} {
				values, err := golang{cv}.values(fn, results)
				if err != nil {
					t.Fatal(err)
				}
				for _, v := range values {
					loc, ok, err := cv.locations.Of(fn.Unit, v.entry, fn.Low)
					if err != nil || !ok || loc.List || len(loc.Expr) == 0 {
						continue
					}
					want, err := cv.locations.Locate(fn, fn.Low, loc.Expr)
					switch {
					case err != nil || want.Base != compile.BaseFrame || want.Value < 0: // a result that escapes is a variable of its own
					case cv.types.Size(v.typ) == 0:
					case !agree(v.place, want):
						other++
						t.Logf("%s: %s is at %+v, the compiler says %+v", cv.entries.QualifiedName(fn.DIE), cv.entries.Name(v.entry), v.place, want)
					default:
						equal[kind]++
					}
				}
			}
		}
		t.Logf("%s: %d arguments and %d results agree", arch, equal[0], equal[1])
		if equal[0] < 500 || equal[1] < 200 || other > 0 {
			t.Errorf("%s: %d arguments and %d results agree, %d do not", arch, equal[0], equal[1], other)
		}
	}
}
