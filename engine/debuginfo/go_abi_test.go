package debuginfo

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"gotap/compile"
	"gotap/engine/debuginfo/image"
	"gotap/engine/testenv"
)

// goProgram builds the Go program that the module tests use too.
func goProgram(t *testing.T, flags ...string) *Info {
	t.Helper()
	return goProgramFor(t, runtime.GOARCH, flags...)
}

// goProgramFor builds it for a processor.
func goProgramFor(t *testing.T, arch string, flags ...string) *Info {
	t.Helper()
	testenv.Require(t, "go")
	dir := filepath.Join(t.TempDir(), "src")
	if err := os.CopyFS(dir, os.DirFS("../module/testdata/goprog")); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(dir, "go.mod.txt"), filepath.Join(dir, "go.mod")); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "prog")
	cmd := exec.Command("go", append(append([]string{"build", "-C", dir, "-o", out}, flags...), ".")...)
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOTOOLCHAIN=local", "GOWORK=off", "CGO_ENABLED=0", "GOARCH="+arch)
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	img, err := image.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { img.Close() })
	in, err := Open(img)
	if err != nil {
		t.Fatal(err)
	}
	if err := in.openLocked(); err != nil {
		t.Fatal(err)
	}
	return in
}

// goFunctions lists all Go functions that have debug information.
func goFunctions(t *testing.T, in *Info) []*function {
	t.Helper()
	var all []*function
	for _, u := range in.units {
		if u.language() != langGo {
			continue
		}
		if err := in.listFunctions(u); err != nil {
			t.Fatal(err)
		}
		for _, r := range u.functions {
			fn, err := in.functionAt(r.lo)
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
	in := goProgram(t)
	equal, unused, other := 0, 0, 0
	for _, fn := range goFunctions(t, in) {
		values, err := in.goValues(fn, false)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range values {
			loc, ok, err := in.locationOf(fn.unit, v.entry, fn.low)
			if err != nil || !ok || !loc.list {
				unused++
				continue
			}
			want, err := in.locate(fn, fn.low, loc.expr)
			if err != nil {
				unused++
				continue
			}
			if !agree(v.place, want) {
				other++
				t.Logf("%s: %s is at %+v, its location list says %+v", in.funcName(fn.entry), in.name(v.entry), v.place, want)
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

func TestGoSignaturesAndResults(t *testing.T) {
	in := goProgram(t)
	want := map[string]struct{ signature, result string }{
		"main.work":         {"main.work(string s, int n, float64 f, int ~p3, []uint8 xs, error e) int", "rax"},
		"main.(*Stack).Len": {"main.(*Stack).Len(main.Stack *s) int", "rax"},
		"main.main":         {"main.main() void", ""},
	}
	for _, fn := range goFunctions(t, in) {
		name := in.funcName(fn.entry)
		w, ok := want[name]
		if !ok {
			continue
		}
		if s, err := in.Signature(fn.low); err != nil || s != w.signature {
			t.Errorf("%s is declared %q, %v", name, s, err)
		}
		if a, err := in.ReturnAccess(fn.low); err != nil || a.Reg != w.result {
			t.Errorf("the result of %s is %+v, %v", name, a, err)
		}
		delete(want, name)
	}
	for name := range want {
		t.Errorf("%s not found", name)
	}
}

func TestGoWords(t *testing.T) {
	in := goProgram(t)
	for _, fn := range goFunctions(t, in) {
		if in.funcName(fn.entry) != "main.work" {
			continue
		}
		// A string, an int, no float, an int, a slice, an interface.
		want := []string{"rax", "rbx", "rcx", "rdi", "rsi", "r8", "r9", "r10", "r11"}
		for n, reg := range want {
			if a, ok := in.GoArg(fn.low, n); !ok || a.Reg != reg {
				t.Errorf("word %d is %+v", n, a)
			}
		}
		if a, ok := in.GoArg(fn.low, len(want)); ok {
			t.Errorf("there is one word more: %+v", a)
		}
	}
}

// TestGoResultsOnTheStack compares the places of arguments and results, where both are on the stack, with those that the compiler writes
// down when it does not optimise.
func TestGoResultsOnTheStack(t *testing.T) {
	for _, arch := range []string{"386", "arm"} {
		if arch == "arm" && os.Getenv("GOTAP_LONG") == "" { // the library has to be compiled anew
			continue
		}
		in := goProgramFor(t, arch, "-gcflags=all=-N")
		equal, other := [2]int{}, 0
		for _, fn := range goFunctions(t, in) {
			for kind, results := range []bool{false, true} {
				values, err := in.goValues(fn, results)
				if err != nil {
					t.Fatal(err)
				}
				for _, v := range values {
					loc, ok, err := in.locationOf(fn.unit, v.entry, fn.low)
					if err != nil || !ok || loc.list || len(loc.expr) == 0 {
						continue
					}
					want, err := in.locate(fn, fn.low, loc.expr)
					switch {
					case err != nil || want.base != compile.BaseFrame || want.value < 0: // a result that escapes is a variable of its own
					case in.sizeOf(v.typ) == 0:
					case !agree(v.place, want):
						other++
						t.Logf("%s: %s is at %+v, the compiler says %+v", in.funcName(fn.entry), in.name(v.entry), v.place, want)
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
