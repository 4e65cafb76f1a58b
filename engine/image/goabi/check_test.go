package goabi

import (
	"debug/elf"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotap/arch"
	"gotap/arch/arm"
	"gotap/arch/arm64"
	"gotap/arch/x86"
	"gotap/engine/image/module"
	"gotap/engine/testenv"
)

// program opens a Go program with the instruction set that it is for.
func program(t *testing.T, path string) (*module.File, arch.Arch) {
	t.Helper()
	f, err := module.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	switch f.Machine {
	case elf.EM_386:
		return f, x86.New32()
	case elf.EM_ARM:
		return f, arm.A32
	case elf.EM_AARCH64:
		return f, arm64.A64
	}
	return f, x86.New64()
}

// build builds the Go program that the module tests use too.
func build(t *testing.T, env []string, flags ...string) string {
	t.Helper()
	return testenv.GoProgram(t, "../module/testdata/goprog", env, flags...)
}

// toolchain is a large program that nobody here wrote.
func toolchain(t *testing.T, name string) string {
	t.Helper()
	testenv.Require(t, "go")
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(strings.TrimSpace(string(root)), "bin", name)
}

// callsMoreStack reports, from the names of what a function calls, whether it checks its stack.
func callsMoreStack(code []byte, fn module.GoFunc, a arch.Arch, more map[uint64]bool) bool {
	for off := 0; off < len(code); {
		in, err := a.Decode(code[off:], fn.Addr+uint64(off))
		if err != nil && (a == arm.A32 || a == arm64.A64) { // a constant between instructions
			off += 4
			continue
		}
		if err != nil {
			return false
		}
		if in.Control == arch.Call && more[in.Target] {
			return true
		}
		off += in.Len
	}
	return false
}

// TestEveryStackCheckIsFound holds the shape of checks against the names of the functions called, over all functions of
// real programs.
func TestEveryStackCheckIsFound(t *testing.T) {
	for name, path := range map[string]string{
		"go": toolchain(t, "go"), "gofmt": toolchain(t, "gofmt"), "unoptimised": build(t, nil, "-gcflags=all=-N"),
		"pie": build(t, nil, "-buildmode=pie"), "386": build(t, []string{"GOARCH=386"}),
		"arm": build(t, []string{"GOARCH=arm"}), "arm, unoptimised": build(t, []string{"GOARCH=arm"}, "-gcflags=all=-N"), "arm64": build(t, []string{"GOARCH=arm64"}),
	} {
		t.Run(name, func(t *testing.T) {
			f, a := program(t, path)
			list, err := f.GoFuncs()
			if err != nil {
				t.Fatal(err)
			}
			more := map[uint64]bool{}
			for _, fn := range list {
				if strings.HasPrefix(fn.Name, "runtime.morestack") {
					more[fn.Addr] = true
				}
			}
			checks := 0
			for _, fn := range list {
				code, err := f.Code(fn.Addr, int(fn.Size))
				if err != nil {
					t.Fatal(err)
				}
				at, ok := EntryAfterCheck(code, fn.Addr, a)
				if want := callsMoreStack(code, fn, a, more); ok != want {
					t.Errorf("%s: check found %v, morestack called %v", fn.Name, ok, want)
				}
				if ok {
					checks++
					checkClean(t, f, fn, at, a)
				}
			}
			if checks < len(list)/2 {
				t.Errorf("%d of %d functions have a check", checks, len(list))
			}
		})
	}
}

// scratch are the registers that a check may change.
var scratch = map[elf.Machine][]string{
	elf.EM_X86_64: {"r12", "r13"}, elf.EM_386: {"ecx", "eax", "esi"}, elf.EM_AARCH64: {"x16", "x17", "x27"}, elf.EM_ARM: {"r1", "r2", "fp"},
}

// written is the operand of an instruction's text that the instruction changes: the first on ARM, the last on x86.
func written(f *module.File, operands string) string {
	all := strings.Split(operands, ",")
	if f.Machine == elf.EM_ARM || f.Machine == elf.EM_AARCH64 {
		return strings.TrimSpace(all[0])
	}
	return strings.TrimPrefix(strings.TrimSpace(all[len(all)-1]), "%")
}

// checkClean makes sure that what is skipped leaves stack, memory and argument registers alone: every instruction is a
// comparison, a branch, or one into a scratch register.
func checkClean(t *testing.T, f *module.File, fn module.GoFunc, end uint64, a arch.Arch) {
	t.Helper()
	code, err := f.Code(fn.Addr, int(end-fn.Addr)+15)
	if err != nil {
		t.Fatal(err)
	}
	for at := fn.Addr; at < end; {
		in, err := a.Decode(code[at-fn.Addr:], at)
		if err != nil {
			t.Fatal(err)
		}
		text := a.Text(code[at-fn.Addr:], at)
		op, operands, _ := strings.Cut(text, " ")
		harmless := op == "cmp" || in.Control == arch.CondJump || slices.Contains(scratch[f.Machine], written(f, operands))
		// Assembly finds the goroutine in thread-local storage; for that it uses a register that holds no argument.
		if !harmless && !fn.Assembly {
			t.Errorf("%s: %s is skipped", fn.Name, text)
		}
		at += uint64(in.Len)
	}
}

func TestDamagedFunctions(t *testing.T) {
	f, a := program(t, toolchain(t, "gofmt"))
	list, _ := f.GoFuncs()
	for _, fn := range list[:min(len(list), 400)] {
		code, err := f.Code(fn.Addr, int(fn.Size))
		if err != nil {
			t.Fatal(err)
		}
		for n := range min(len(code), 64) {
			if at, ok := EntryAfterCheck(code[:n], fn.Addr, a); ok {
				t.Fatalf("%s cut to %d bytes has its check at %#x", fn.Name, n, at)
			}
		}
	}
}
