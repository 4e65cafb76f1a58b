package engine

import (
	"gotap/arch"
	"gotap/engine/linux/ptrace"
)

// Shadow stacks (CET): the processor keeps a second stack of return addresses, which calls push to and returns compare with, and which
// nobody else may write. An emulated call pushes nothing there, and one from a slot pushes the address behind the slot; the return would
// raise an exception, and end the program. So in a thread that has one, calls and returns are executed at their own place.

// hasShadowStack asks the kernel. Programs switch it on at their start, if at all.
func hasShadowStack(tid int) bool {
	var pointer [8]byte
	_, e := ptrace.GetRegSet(tid, ptrace.SetX86Shadow, pointer[:])
	return e == 0
}

// usesShadow reports whether the instruction of a point pushes to the thread's shadow stack, or pops from it.
func (t *thread) usesShadow(p *point) bool {
	switch p.site.Insn().Control {
	case arch.Call, arch.IndirCall, arch.Return:
		return t.s.hasShadow(t.tid)
	}
	return false
}
