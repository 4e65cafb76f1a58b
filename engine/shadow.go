package engine

import (
	"gotap/arch"
	"gotap/engine/linux/ptrace"
	"gotap/engine/space"
)

// Shadow stacks (CET): the processor keeps a second stack of return addresses, which calls push to, returns compare
// with, and nothing else may write. An emulated call pushes nothing there, and a call from a slot pushes the
// address behind the slot; the return would raise an exception and end the program. So in a thread with a shadow
// stack, calls and returns run at their own address.

// hasShadowStack reports whether a thread has a shadow stack, as the kernel knows. Programs enable it at their
// start, if at all.
func hasShadowStack(tid int) bool {
	var pointer [8]byte
	_, e := ptrace.GetRegSet(tid, ptrace.SetX86Shadow, pointer[:])
	return e == 0
}

// usesShadow reports whether the instruction of a point pushes to or pops from the thread's shadow stack.
func (t *thread) usesShadow(p *space.Point) bool {
	switch p.Site.Insn().Control {
	case arch.Call, arch.IndirCall, arch.Return:
		return t.s.hasShadow(t.Tid)
	}
	return false
}
