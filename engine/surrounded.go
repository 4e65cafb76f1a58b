package engine

import (
	"gotap/engine/image/module"
	"gotap/engine/isa"
	"gotap/runtime"
)

var _ runtime.ProcessInfo = (*thread)(nil)

// errnoFunction is the function with which the C library of an address space finds errno.
type errnoFunction struct {
	entry  uint64 // 0: unknown
	looked int    // number of modules when none was found
}

// Errno implements runtime.ProcessInfo. It does not call the C library's function, but evaluates it on a copy of the
// registers.
func (t *thread) Errno() (uint64, bool) {
	if t.sys.in {
		return t.callError(), true
	}
	sp := t.proc.space
	if f := &sp.errno; f.entry == 0 {
		if f.looked == len(sp.mods) {
			return 0, false
		}
		f.entry, _ = isa.ErrnoFunction(sp.mods)
		f.looked = len(sp.mods)
	}
	t.view = threadMemory{Memory: sp.mem, t: t}
	return t.proc.arch.Errno(sp.errno.entry, &t.regs, &t.view, sp.mods)
}

// callError returns the error that a system call returns, or 0 if it returns none or has not returned.
func (t *thread) callError() uint64 {
	const last = 4095 // the kernel's errors are -4095 … -1
	if ret := int64(t.Return()); t.h.Now.Leave && ret < 0 && ret >= -last {
		return uint64(-ret)
	}
	return 0
}

// Bias implements runtime.ProcessInfo.
func (t *thread) Bias(name string) (uint64, bool) { return module.BiasOf(t.proc.space.mods, name) }
