package stepping

import (
	"gotap/arch"
	"gotap/engine/linux/hostcpu"
	"gotap/engine/linux/ptrace"
	"gotap/engine/space"
)

// Shadows are the threads that have a shadow stack (CET): the processor keeps a second stack of return addresses, which
// calls push to, returns compare with, and nothing else may write. An emulated call pushes nothing there, and a call
// from a slot pushes the address behind the slot; the return would raise an exception and end the program. So in a
// thread with a shadow stack, calls and returns run at their own address.
type Shadows struct {
	Has func(tid int) bool // reports whether a thread has a shadow stack; nil: none has
}

// NewShadows returns the threads that have a shadow stack on this machine. Programs enable it at their start, if at
// all.
func NewShadows() Shadows {
	if !hostcpu.HasShadowStacks() {
		return Shadows{}
	}
	return Shadows{func(tid int) bool {
		var pointer [8]byte
		_, e := ptrace.GetRegSet(tid, ptrace.SetX86Shadow, pointer[:])
		return e == 0
	}}
}

// Exist reports whether any thread may have a shadow stack.
func (s Shadows) Exist() bool { return s.Has != nil }

// Uses reports whether the instruction of a point pushes to or pops from the shadow stack of a thread.
func (s Shadows) Uses(tid int, p *space.Point) bool {
	switch p.Site.Insn().Control {
	case arch.Call, arch.IndirCall, arch.Return:
		return s.Has(tid)
	}
	return false
}
