package stopped

import (
	"iter"

	"gotap/arch"
	"gotap/engine/image/goabi"
	"gotap/engine/image/module"
	"gotap/engine/isa"
	"gotap/engine/linux/ptrace"
	"gotap/engine/registry"
	"gotap/engine/registry/hit"
	"gotap/engine/registry/retprobe"
	"gotap/engine/syscallprobe"
	"gotap/runtime"
)

// View is what programs see of a stopped thread.
type View struct {
	parts  Parts
	image  Image
	golang *goabi.Convention

	point     *retprobe.Point // that was hit; nil: none
	pointAddr uint64
	faultAddr uint64 // of the instruction that faulted, for fault handlers
	faultSig  int
}

// Thread is what a View asks of the back end about its thread.
type Thread interface {
	// Walk finds the call stack of the thread from registers. It returns the number of addresses.
	Walk(regs *arch.Regs, pcs []uint64) int
	// Leaving returns the registers as the instruction that was hit leaves them, at a function's exit. It writes no
	// memory. ok is false if the instruction cannot be followed.
	Leaving() (regs *arch.Regs, ok bool)
	// Emulated returns the thread's memory for instructions that are emulated.
	Emulated() arch.Memory
	// PointTo returns the point at the target of a code pointer, and creates it if necessary.
	PointTo(pointer uint64) (*retprobe.Point, error)
	// Siblings yields the calls of all threads of the process, this one's included.
	Siblings() iter.Seq[*retprobe.Thread]
}

// Parts are the thread and what it does at a hit.
type Parts struct {
	Thread Thread
	Regs   *arch.Regs
	Hit    *hit.Hit
	Calls  *retprobe.Thread
	Call   *syscallprobe.Calls
}

// Image is a program in memory.
type Image struct {
	ISA      *isa.ISA
	Memory   arch.Memory
	Pointers goabi.Pointers
	Modules  *[]module.Loaded
	Errno    *isa.ErrnoFunction
}

// Init makes it ready for a thread.
func (v *View) Init(parts Parts) { v.parts = parts }

// Enter is called with the program that the thread runs from now on.
func (v *View) Enter(image Image) { v.image, v.golang = image, goabi.Of(image.ISA.Machine) }

// At is called when programs are about to run in a new stop, at a point or, with nil, elsewhere.
func (v *View) At(point *retprobe.Point, addr uint64) { v.point, v.pointAddr = point, addr }

// Fault notes where an instruction has faulted, and with which signal, for fault handlers.
func (v *View) Fault(addr uint64, sig int) { v.faultAddr, v.faultSig = addr, sig }

// pc returns the program counter.
func (v *View) pc() uint64 { return v.parts.Regs[v.image.ISA.PC()] }

// Arg implements runtime.Thread.
func (v *View) Arg(n int) (uint64, bool) {
	a := v.image.ISA
	if v.parts.Call.InPrograms() {
		return a.Word(a.SyscallArg(n, v.parts.Regs)), n < 6
	}
	arg, err := a.Arg(n, v.parts.Regs, v.image.Memory)
	return a.Word(arg), err == nil
}

// Return implements runtime.Thread.
func (v *View) Return() uint64 {
	a := v.image.ISA
	if v.parts.Call.InPrograms() {
		return a.SyscallRet(v.parts.Regs)
	}
	return a.Word(v.parts.Regs[a.Ret()])
}

// SetReturn implements runtime.Thread.
func (v *View) SetReturn(ret uint64) { v.parts.Regs[v.image.ISA.Ret()] = ret }

// Field implements runtime.Thread for the fields that need no back end. All others are 0.
func (v *View) Field(f runtime.Field) uint64 {
	switch f {
	case runtime.FieldTime:
		if read := v.parts.Hit.Now.Clock; read != 0 {
			return read
		}
		return ptrace.Now()
	case runtime.FieldElapsed:
		return v.parts.Hit.Now.Elapsed
	case runtime.FieldPC:
		return v.pc()
	case runtime.FieldSP:
		return v.SP()
	case runtime.FieldFrame:
		return v.parts.Hit.EntrySP(v.SP())
	case runtime.FieldResult:
		return v.parts.Hit.Now.Result
	case runtime.FieldCaller:
		return v.caller()
	case runtime.FieldFault:
		return v.faultAddr
	case runtime.FieldSignal:
		return uint64(v.faultSig)
	}
	return 0
}

// Text implements runtime.Thread for the texts that need no back end. All others are empty.
func (v *View) Text(f runtime.TextField, p []byte) int {
	var s string
	switch f {
	case runtime.TextFunc:
		s, _ = v.codePlace()
	case runtime.TextModule:
		_, s = v.codePlace()
	case runtime.TextProbe:
		s = v.parts.Hit.Now.Placement.Probe.Spec.Name
	}
	return CopyText(p, s)
}

// CopyText copies as much of s as fits and returns the length of s, as Text does.
func CopyText(p []byte, s string) int {
	copy(p, s)
	return len(s)
}

// codePlace returns the names of the function and the file of the code that was hit. For a probe they are those of its
// place; for a sample those of where the thread is; for a watchpoint those of the instruction that hit it, which for
// data is the one before the program counter.
func (v *View) codePlace() (function, file string) {
	pl := v.parts.Hit.Now.Placement
	pc := v.pc()
	switch {
	case pl.Data:
		pc--
	case !pl.Sample:
		return pl.Func, pl.Module
	}
	m := module.Find(*v.image.Modules, pc)
	if m == nil || m.File == nil || m.Err != nil {
		return "", ""
	}
	if fn, ok := m.File.FuncAt(m.Vaddr(pc)); ok {
		function = fn.Demangled()
	}
	return function, m.Path
}

// Errno implements runtime.ProcessInfo. It does not call the C library's function, but evaluates it on a copy of the
// registers.
func (v *View) Errno() (uint64, bool) {
	if v.parts.Call.InPrograms() {
		return v.callError(), true
	}
	mods := *v.image.Modules
	entry, ok := v.image.Errno.In(mods)
	if !ok {
		return 0, false
	}
	return v.image.ISA.Errno(entry, v.parts.Regs, v.parts.Thread.Emulated(), mods)
}

// callError returns the error that a system call returns, or 0 if it returns none or has not returned.
func (v *View) callError() uint64 {
	const last = 4095 // the kernel's errors are -4095 … -1
	if ret := int64(v.Return()); v.parts.Hit.Now.Leave && ret < 0 && ret >= -last {
		return uint64(-ret)
	}
	return 0
}

// Bias implements runtime.ProcessInfo.
func (v *View) Bias(name string) (uint64, bool) { return module.BiasOf(*v.image.Modules, name) }

// Push implements hit.Target.
func (v *View) Push(pl *registry.Placement) (this uint64, ok bool) {
	return v.parts.Calls.Push(v.point, pl)
}

// CalledFrom implements hit.Target.
func (v *View) CalledFrom(pr *registry.Probe) bool {
	return pr.CalledFrom(v.caller(), *v.image.Modules)
}
