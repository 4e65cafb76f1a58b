package view

import (
	"gotap/engine/image/module"
	"gotap/engine/isa"
	"gotap/runtime"
)

var _ runtime.ProcessInfo = (*View)(nil)

// Errno implements runtime.ProcessInfo. It does not call the C library's function, but evaluates it on a copy of the
// registers.
func (w *View) Errno() (uint64, bool) {
	if w.call.InPrograms() {
		return w.callError(), true
	}
	sp := w.Space
	if f := &sp.Errno; f.Entry == 0 {
		if f.Looked == len(sp.Modules) {
			return 0, false
		}
		f.Entry, _ = isa.ErrnoFunction(sp.Modules)
		f.Looked = len(sp.Modules)
	}
	return w.Space.ABI.Errno(sp.Errno.Entry, &w.Regs, w.emu.Memory(), sp.Modules)
}

// callError returns the error that a system call returns, or 0 if it returns none or has not returned.
func (w *View) callError() uint64 {
	const last = 4095 // the kernel's errors are -4095 … -1
	if ret := int64(w.Return()); w.hit.Now.Leave && ret < 0 && ret >= -last {
		return uint64(-ret)
	}
	return 0
}

// RunTime implements runtime.ProcessInfo.
func (w *View) RunTime() (uint64, bool) { return w.ran.Now(w.Of.Pid(), w.Tid) }

// Bias implements runtime.ProcessInfo.
func (w *View) Bias(name string) (uint64, bool) { return module.BiasOf(w.Space.Modules, name) }
