package fetch

import (
	"strings"

	"gotap/compile/diag"
	"gotap/compile/js"
	"gotap/compile/js/tree"
	"gotap/runtime"
	"gotap/runtime/opcode"
)

// floatPrefixes are what the registers that pass floats are called on x86, AArch64 and 32-bit ARM. No other register's
// name is one of these and a digit.
var floatPrefixes = []string{"xmm", "v", "d"}

// floatTop is the top of the stack of IA-32's floating-point unit. Like vector registers, it is not in the register
// file.
const floatTop = "st0"

// registerValue reads a register. Those that pass floats are not in the register file: they are read as arguments.
func registerValue(name string, at diag.Span) *tree.Expr {
	if name == floatTop {
		return tree.ApplyA(at, tree.KindFloat, opcode.ArgF, runtime.FloatTop)
	}
	for _, prefix := range floatPrefixes {
		if n, ok := strings.CutPrefix(name, prefix); ok && len(n) == 1 && n[0] >= '0' && n[0] <= '7' {
			return tree.ApplyA(at, tree.KindFloat, opcode.ArgF, uint32(n[0]-'0'))
		}
	}
	e := tree.Apply(at, tree.KindInt, opcode.PushR)
	e.Text = name
	return e
}

// Register is one of its members.
type Register struct{ Name string }

func (Register) Noun() string { return "a register" }

func (Register) Kind() tree.Kind { return tree.KindInt }

func (r Register) Get(_ *Fetcher, at diag.Span) *tree.Expr { return registerValue(r.Name, at) }

// programCounters are the names under which the program counter can be written.
var programCounters = map[string]bool{"rip": true, "eip": true, "ip": true, "pc": true}

func (r Register) Set(f *Fetcher, at diag.Span, v *tree.Expr) *tree.Expr {
	f.State.NeedUnsafe(at, "changing a register")
	if programCounters[r.Name] && (f.Handler == js.Enter || f.Returning()) {
		f.Errorf(at, "skip(result) leaves the function at once; post(c) and fault(c) can change "+r.Name, "the probed instruction still runs and sets %s itself", r.Name)
		return tree.Poison(at)
	}
	e := tree.Store(at, opcode.PopR, 0, v)
	e.Text = r.Name
	return e
}
