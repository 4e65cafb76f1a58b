package amd64

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"syscall"
	"unsafe"

	"gotap/runtime"
	"gotap/runtime/native"
	"gotap/runtime/opcode"
)

// fpRegs is the kernel's struct user_fpregs_struct.
type fpRegs struct {
	control, status, tags, op uint16
	ip, data                  uint64
	mxcsr, mask               uint32
	stack                     [16]uint64
	vectors                   [32]uint64
	_                         [12]uint64
}

const wordMXCSR = 85

// usesFloats reports whether programs, or the native code of them, look at vector registers.
func usesFloats(programs []native.Program) bool {
	uses := func(plan *native.Plan) bool {
		return plan != nil && (usesVectors(plan) || slices.ContainsFunc(plan.Insts, func(in runtime.Inst) bool {
			return in.Op == opcode.ArgF || in.Op == opcode.PushR && in.V>>16 >= runtime.FloatWords
		}))
	}
	return slices.ContainsFunc(programs, func(p native.Program) bool { return uses(p.When) || uses(p.Run) })
}

// anyVectors returns random vector registers, with exceptions that are not masked, that have been noted, and with all
// ways to round.
func anyVectors(r *rand.Rand) (fp fpRegs) {
	fp.control = 0x37f
	for i := range fp.vectors {
		fp.vectors[i] = anyFloat(r)
	}
	if fp.mxcsr = 0x1f80; r.IntN(4) != 0 {
		fp.mxcsr = r.Uint32() & 0xffff
	}
	return fp
}

// sameVectors compares the vector registers of the tracee with those of the hit.
func (w *world) sameVectors() error {
	if !w.floats {
		return nil
	}
	var got fpRegs
	w.c.ptrace(syscall.PTRACE_GETFPREGS, unsafe.Pointer(&got))
	if got.mxcsr != w.fp.mxcsr {
		return fmt.Errorf("MXCSR is %#x, not %#x", got.mxcsr, w.fp.mxcsr)
	}
	for i, v := range w.fp.vectors {
		if got.vectors[i] != v {
			return fmt.Errorf("half %d of xmm%d is %#x, not %#x", i%2, i/2, got.vectors[i], v)
		}
	}
	return nil
}
