package engine

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gotap/compile"
	"gotap/engine/testenv"
	"gotap/runtime"
)

// goProgram builds the Go program of testdata.
func goProgram(t *testing.T, flags ...string) string {
	t.Helper()
	testenv.Require(t, testenv.AMD64, testenv.Ptrace, "go")
	path := filepath.Join(t.TempDir(), "routines")
	args := append(append([]string{"build", "-o", path}, flags...), "./testdata/routines")
	if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

// TestGoroutines counts calls of goroutines whose stacks move: each is entered once, although the check of its stack runs it
// from its start again, and each is left.
func TestGoroutines(t *testing.T) {
	for _, flags := range []string{"", "-ldflags=-s", "-gcflags=-N", "-buildmode=pie"} {
		path := goProgram(t, strings.Fields(flags)...)
		t.Run(flags, func(t *testing.T) {
			w := newWorld(t, Config{Follow: FollowThreads})
			tg := w.launch(path)
			enters, leaves, results := w.counter(), w.counter(), w.counter()
			w.probe("main.work", Handlers{
				Enter: w.counts(enters),
				Leave: w.code(runtime.Inst{Op: runtime.OpIncGV, V: leaves.offset()},
					runtime.Inst{Op: runtime.OpRetval}, runtime.Inst{Op: runtime.OpAddGV, V: results.offset()}),
			})
			w.run()
			want(t, "enters", enters.get(), 4*201)
			want(t, "leaves", leaves.get(), 4*201)
			// The results are 5 to 205.
			want(t, "sum of results", results.get(), 4*(5+205)*201/2)
			want(t, "output", tg.output(), strings.Repeat("205\n", 4))
		})
	}
}

// TestGoArguments asks where the arguments of a Go function are: a string takes the first two registers.
func TestGoArguments(t *testing.T) {
	for _, flags := range []string{"-ldflags=", "-ldflags=-s -w"} {
		path := goProgram(t, flags)
		w := newWorld(t, Config{Follow: FollowThreads})
		w.launch(path)
		var args [3]compile.Access
		w.probe("main.work", Handlers{}, func(p *ProbeSpec) {
			p.Compile = func(info PlaceInfo) (Handlers, error) {
				for n := range args {
					args[n], _, _ = info.Arg(n)
				}
				return Handlers{}, nil
			}
		})
		w.run()
		for n, reg := range []string{"rax", "rbx", "rcx"} {
			want(t, "register of an argument", args[n].Reg, reg)
		}
	}
}
