package remote

import (
	"gotap/engine/image/module"
	"gotap/engine/isa"
	"gotap/engine/linux/ptrace"
	"gotap/engine/registry/hit"
	"gotap/engine/registry/retprobe"
	"gotap/engine/remote/memory"
	"gotap/engine/remote/register"
	"gotap/engine/syscallprobe"
	"gotap/runtime"
)

// view is the thread of the present hit as others see it: the programs that run there (runtime.Thread), and the calls
// that are followed (retprobe.Target, frame.go). The thread fills in the second group of fields; apart from the
// registers and the memory, whose changes programs ask for, a view changes nothing. The control's lock guards it.
type view struct {
	id      int // the thread's number
	stub    *stub
	mem     *memory.Memory
	program *program
	points  *breakpoints
	threads *threads
	regs    *register.File
	h       *hit.Hit
	calls   *retprobe.Thread
	sys     *syscallprobe.Calls

	at  *point // the point that was hit; nil at a system call, or at an access to watched data
	sig int    // the signal, in fault handlers
}

var (
	_ runtime.Thread      = (*view)(nil)
	_ runtime.ProcessInfo = (*view)(nil)
	_ runtime.Mapper      = (*view)(nil)
)

// ReadMemory implements runtime.Thread. It hides breakpoints.
func (v *view) ReadMemory(addr uint64, p []byte) int { return v.mem.Read(v.stub.isa.Address(addr), p) }

// WriteMemory implements runtime.Thread. It fails for memory that contains a breakpoint.
func (v *view) WriteMemory(addr uint64, p []byte) bool {
	addr = v.stub.isa.Address(addr)
	return !v.points.overlap(addr, len(p)) && v.mem.WriteMemory(addr, p) == nil
}

// Writable implements runtime.Mapper.
func (v *view) Writable(addr, n uint64) bool { return v.program.writable(v.stub.isa.Address(addr), n) }

// Arg implements runtime.Thread.
func (v *view) Arg(n int) (uint64, bool) {
	if v.sys.InPrograms() {
		return v.stub.isa.Word(v.stub.isa.SyscallArg(n, &v.regs.General)), n < 6
	}
	if pl := v.h.Now.Placement; pl != nil && isKernelCall(pl.Target) {
		return v.kernelCallArg(n)
	}
	arg, err := v.stub.isa.Arg(n, &v.regs.General, v.mem)
	return v.stub.isa.Word(arg), err == nil
}

// ArgFloat implements runtime.Thread.
func (v *view) ArgFloat(n int) (float64, bool) {
	if n == runtime.FloatTop {
		return v.regs.FloatTop(v.stub.isQEMU)
	}
	return v.regs.Float(v.stub.isa.ArgFloat(n))
}

// FloatWord implements runtime.Thread.
func (v *view) FloatWord(n int) (uint64, bool) { return v.regs.FloatWord(n) }

// Return implements runtime.Thread.
func (v *view) Return() uint64 {
	if v.sys.InPrograms() {
		return v.stub.isa.Word(v.stub.isa.SyscallRet(&v.regs.General))
	}
	return v.stub.isa.Word(v.regs.General[v.stub.isa.Ret()])
}

// SetReturn implements runtime.Thread.
func (v *view) SetReturn(ret uint64) { v.regs.General[v.stub.isa.Ret()] = ret }

// Field implements runtime.Thread. A field that only the target's kernel knows is 0, because a stub does not report
// it; so is the address of a fault.
func (v *view) Field(f runtime.Field) uint64 {
	switch f {
	case runtime.FieldPid:
		return uint64(v.threads.pid())
	case runtime.FieldTid:
		return uint64(v.id)
	case runtime.FieldCPU:
		if v.stub.kernel && v.id > 0 {
			return uint64(v.id - 1) // stubs number processors from 1
		}
	case runtime.FieldTime:
		return ptrace.Now()
	case runtime.FieldElapsed:
		return v.h.Now.Elapsed
	case runtime.FieldPC:
		return *v.regs.PC()
	case runtime.FieldSP:
		return v.regs.SP()
	case runtime.FieldFrame:
		return v.h.EntrySP(v.regs.SP())
	case runtime.FieldResult:
		return v.h.Now.Result
	case runtime.FieldCaller:
		return v.caller()
	case runtime.FieldSignal:
		return uint64(v.sig)
	}
	return 0
}

// Errno implements runtime.ProcessInfo.
func (v *view) Errno() (uint64, bool) {
	if v.sys.InPrograms() {
		const last = 4095 // the kernel's errors are -4095 … -1
		if ret := int64(v.Return()); v.h.Now.Leave && ret < 0 && ret >= -last {
			return uint64(-ret), true
		}
		return 0, true
	}
	entry, ok := isa.ErrnoFunction(v.program.mods)
	if !ok {
		return 0, false
	}
	return v.stub.isa.Errno(entry, &v.regs.General, v.mem, v.program.mods)
}

// RunTime implements runtime.ProcessInfo. A stub does not report it.
func (v *view) RunTime() (uint64, bool) { return 0, false }

// Bias implements runtime.ProcessInfo.
func (v *view) Bias(name string) (uint64, bool) { return module.BiasOf(v.program.mods, name) }

// caller returns the return address of the function: at the entry, from where the calling convention puts it; at an
// exit, the address to which the exit leads; otherwise as found by unwinding.
func (v *view) caller() uint64 {
	switch now := v.h.Now; {
	case v.at == nil: // at a system call, or at an access to watched data
	case now.Leave && v.calls.Behind():
		return *v.regs.PC()
	case now.Leave && v.stub.isa.Stepless:
		regs := v.leaving()
		return regs[v.stub.isa.PC()]
	case now.Leave, now.Placement.Target.Entry() && *v.regs.PC() == v.at.addr:
		ret, _ := v.stub.isa.ReturnAddress(&v.regs.General, v.mem)
		return v.stub.isa.Target(ret)
	}
	var pcs [2]uint64
	if v.Stack(pcs[:]) < 2 {
		return 0
	}
	return pcs[1]
}

// Text implements runtime.Thread.
func (v *view) Text(f runtime.TextField, p []byte) int {
	var s string
	switch f {
	case runtime.TextComm:
		s = v.comm()
	case runtime.TextFunc:
		s, _ = v.codePlace()
	case runtime.TextModule:
		_, s = v.codePlace()
	case runtime.TextProbe:
		s = v.h.Now.Placement.Probe.Spec.Name
	}
	copy(p, s)
	return len(s)
}

// codePlace returns the names of the function and the file of the code that was hit.
func (v *view) codePlace() (function, file string) {
	if pl := v.h.Now.Placement; !pl.Data {
		return pl.Func, pl.Module
	}
	sym := v.program.names.Name(v.program.find(*v.regs.PC()-1), *v.regs.PC()-1)
	return sym.Func, sym.Module
}

// comm returns the name of the program, truncated as kernels do it.
func (v *view) comm() string { return v.program.comm[:min(len(v.program.comm), 15)] }

// Stack implements runtime.Thread.
func (v *view) Stack(pcs []uint64) int { return v.program.walk(&v.regs.General, pcs) }
