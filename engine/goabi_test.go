package engine

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gotap/compile"
	"gotap/engine/testenv"
	"gotap/runtime"
	"gotap/runtime/opcode"
)

// goProgram builds the Go program of testdata.
func goProgram(t *testing.T, flags ...string) string {
	t.Helper()
	return goProgramFor(t, "amd64", flags...)
}

// goProgramFor builds it for a processor.
func goProgramFor(t *testing.T, arch string, flags ...string) string {
	t.Helper()
	testenv.Require(t, testenv.AMD64, testenv.Ptrace, "go")
	path := filepath.Join(t.TempDir(), "routines")
	args := append(append([]string{"build", "-o", path}, flags...), "./testdata/routines")
	cmd := exec.Command("go", args...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOARCH="+arch)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

// TestGoroutines counts calls of goroutines whose stacks move: each is entered once, although the check of its stack
// runs it from its start again, and each is left.
func TestGoroutines(t *testing.T) {
	for _, flags := range []string{"", "-ldflags=-s", "-gcflags=-N", "-buildmode=pie"} {
		path := goProgram(t, strings.Fields(flags)...)
		t.Run(flags, func(t *testing.T) {
			w := newWorld(t, Config{Follow: FollowThreads})
			tg := w.launch(path)
			enters, leaves, results := w.counter(), w.counter(), w.counter()
			w.probe("main.work", Handlers{
				Enter: w.counts(enters),
				Leave: w.code(runtime.Inst{Op: opcode.IncGV, V: leaves.offset()},
					runtime.Inst{Op: opcode.Retval}, runtime.Inst{Op: opcode.AddGV, V: results.offset()}),
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

// TestGoroutines32 is the same on IA-32, where results are in the caller's frame, which has moved with the stack by
// then.
func TestGoroutines32(t *testing.T) {
	testenv.Require(t, testenv.IA32)
	path := goProgramFor(t, "386")
	w := newWorld(t, Config{Follow: FollowThreads})
	tg := w.launch(path)
	enters, leaves, results, arguments := w.counter(), w.counter(), w.counter(), w.counter()
	w.probe("main.work", Handlers{}, func(p *ProbeSpec) {
		p.Compile = func(info PlaceInfo) (Handlers, error) {
			ret, ok, err := info.ReturnType()
			if err != nil || !ok {
				t.Errorf("no result: %v", err)
			}
			n, ok, err := info.Arg(2) // behind the string
			if err != nil || !ok {
				t.Errorf("no argument: %v", err)
			}
			return Handlers{
				Enter: w.code(append(w.fetched(n, runtime.FieldSP), runtime.Inst{Op: opcode.AddGV, V: arguments.offset()},
					runtime.Inst{Op: opcode.IncGV, V: enters.offset()})...),
				Leave: w.code(append(w.fetched(ret, runtime.FieldFrame), runtime.Inst{Op: opcode.AddGV, V: results.offset()},
					runtime.Inst{Op: opcode.IncGV, V: leaves.offset()})...),
			}, nil
		}
	})
	w.run()
	want(t, "enters", enters.get(), 4*201)
	want(t, "leaves", leaves.get(), 4*201)
	want(t, "sum of results", results.get(), 4*(5+205)*201/2)
	want(t, "sum of arguments", arguments.get(), 4*200*201/2)
	want(t, "output", tg.output(), strings.Repeat("205\n", 4))
}

// fetched is what reads a word on the stack of a 32-bit process.
func (w *world) fetched(a compile.Access, frame runtime.Field) []runtime.Inst {
	if a.Base != compile.BaseFrame || len(a.Steps) != 1 || a.Steps[0].Op != compile.OpLoad || a.Steps[0].Size != 4 {
		w.t.Fatalf("no word on the stack: %+v", a)
	}
	return []runtime.Inst{{Op: opcode.Field, A: uint32(frame)}, {Op: opcode.PushD, V: uint64(a.Value + 4)}, {Op: opcode.Add},
		{Op: opcode.LoadS32}}
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
