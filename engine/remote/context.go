package remote

import (
	"debug/elf"
	"math"

	"gotap/engine/image/module"
	"gotap/engine/image/unwind"
	"gotap/engine/isa"
	"gotap/engine/linux/ptrace"
	"gotap/runtime"
)

// This file provides what a program may ask of the thread that hit: thread implements runtime.Thread.

var (
	_ runtime.ProcessInfo = (*thread)(nil)
	_ runtime.Mapper      = (*thread)(nil)
)

// ReadMemory implements runtime.Thread. It hides breakpoints.
func (t *thread) ReadMemory(addr uint64, p []byte) int { return t.s.mem.read(t.s.isa.Address(addr), p) }

// WriteMemory implements runtime.Thread. It fails for memory that contains a breakpoint.
func (t *thread) WriteMemory(addr uint64, p []byte) bool {
	addr = t.s.isa.Address(addr)
	for _, pt := range t.s.points {
		if pt.planted && pt.addr < addr+uint64(len(p)) && pt.addr+uint64(len(pt.orig)) > addr {
			return false
		}
	}
	return t.s.mem.WriteMemory(addr, p) == nil
}

// Writable implements runtime.Mapper. A stub does not report how memory is mapped: in a module the file's segment
// decides, and elsewhere readable memory counts as writable. A stub's own writes prove nothing, because most stubs
// also write to read-only pages.
func (t *thread) Writable(addr, n uint64) bool {
	addr = t.s.isa.Address(addr)
	for i := range t.s.mods {
		m := &t.s.mods[i]
		if m.File == nil || m.Err != nil {
			continue
		}
		for _, seg := range m.File.Segments {
			start := m.Addr(seg.Vaddr)
			if seg.Flags&elf.PF_W == 0 && addr < start+seg.MemSize && addr+n > start {
				return false
			}
		}
	}
	return true
}

// Arg implements runtime.Thread.
func (t *thread) Arg(n int) (uint64, bool) {
	if t.inCall {
		return t.s.isa.Word(t.s.isa.SyscallArg(n, &t.regs)), n < 6
	}
	if pl := t.h.Now.Placement; pl != nil && isKernelCall(pl.Target) {
		return t.kernelCallArg(n)
	}
	v, err := t.s.isa.Arg(n, &t.regs, &t.s.mem)
	return t.s.isa.Word(v), err == nil
}

// ArgFloat implements runtime.Thread.
func (t *thread) ArgFloat(n int) (float64, bool) {
	if n == runtime.FloatTop {
		return t.floatTop()
	}
	return t.floatReg(t.s.isa.ArgFloat(n))
}

// extended is the size in bytes of a number of x86's floating-point unit.
const extended = 10

// floatTop returns the number on top of that unit's stack. GDB counts registers from the top; QEMU numbers them
// physically, wherever the top is.
func (t *thread) floatTop() (float64, bool) {
	b := t.s.bound
	if len(b.float) == 0 {
		return 0, false
	}
	top := 0
	if t.s.isQEMU() {
		flags, ok := t.register(b.flags)
		if !ok {
			return 0, false
		}
		top = int(word(flags) >> 11 & 7)
	}
	data, ok := t.register(b.float[top])
	if !ok {
		return 0, false
	}
	return ptrace.Extended(data), true
}

// isQEMU reports whether the stub is QEMU's, by a query that no other stub answers.
func (s *Session) isQEMU() bool {
	if !s.queried {
		answer, err := s.client.Call("qqemu.sstepbits")
		s.queried, s.qemu = true, err == nil && answer != ""
	}
	return s.qemu
}

// floatReg returns the low lane of vector register n.
func (t *thread) floatReg(n int) (float64, bool) {
	if n < 0 || n >= t.s.isa.vectors || !t.readVectors() {
		return 0, false
	}
	bits := t.vecs.V[n][0]
	if t.s.isa == &armISA {
		bits = t.vecs.V[n/2][n%2]
	}
	return math.Float64frombits(bits), true
}

// FloatWord implements runtime.Thread. Of x86's registers only the vector registers are read from stubs.
func (t *thread) FloatWord(n int) (uint64, bool) {
	a := t.s.isa
	words := 2 * a.vectors
	if a == &armISA {
		words = a.vectors
	}
	switch {
	case n < 0 || n >= words && a.control == "" || !t.readVectors():
		return 0, false
	case n < words:
		return t.vecs.V[n/2][n%2], true
	case n == isa.FPCR:
		return t.vecs.Control, true
	case n == isa.FPSR:
		return t.vecs.Status, true
	}
	return 0, false
}

// Return implements runtime.Thread.
func (t *thread) Return() uint64 {
	if t.inCall {
		return t.s.isa.Word(t.s.isa.SyscallRet(&t.regs))
	}
	return t.s.isa.Word(t.regs[t.s.isa.Ret()])
}

// SetReturn implements runtime.Thread.
func (t *thread) SetReturn(v uint64) { t.regs[t.s.isa.Ret()] = v }

// Field implements runtime.Thread. A field that only the target's kernel knows is 0, because a stub does not report
// it.
func (t *thread) Field(f runtime.Field) uint64 {
	switch f {
	case runtime.FieldPid:
		return uint64(t.s.pid())
	case runtime.FieldTid:
		return uint64(t.id)
	case runtime.FieldCPU:
		if t.s.kernel && t.id > 0 {
			return uint64(t.id - 1) // stubs number processors from 1
		}
	case runtime.FieldTime:
		return ptrace.Now()
	case runtime.FieldElapsed:
		return t.h.Now.Elapsed
	case runtime.FieldPC:
		return *t.pc()
	case runtime.FieldSP:
		return t.sp()
	case runtime.FieldFrame:
		return t.h.EntrySP(t.sp())
	case runtime.FieldResult:
		return t.h.Now.Result
	case runtime.FieldCaller:
		return t.caller()
	case runtime.FieldFault:
		return t.fault
	case runtime.FieldSignal:
		return uint64(t.sig)
	}
	return 0
}

// Errno implements runtime.ProcessInfo.
func (t *thread) Errno() (uint64, bool) {
	if t.inCall {
		const last = 4095 // the kernel's errors are -4095 … -1
		if ret := int64(t.Return()); t.h.Now.Leave && ret < 0 && ret >= -last {
			return uint64(-ret), true
		}
		return 0, true
	}
	entry, ok := isa.ErrnoFunction(t.s.mods)
	if !ok {
		return 0, false
	}
	return t.s.isa.Errno(entry, &t.regs, &t.s.mem, t.s.mods)
}

// Bias implements runtime.ProcessInfo.
func (t *thread) Bias(name string) (uint64, bool) { return module.BiasOf(t.s.mods, name) }

// caller returns the return address of the function: at the entry, from where the calling convention puts it; at an
// exit, the address to which the exit leads; otherwise as found by unwinding.
func (t *thread) caller() uint64 {
	switch now := t.h.Now; {
	case t.at == nil: // at a system call, or at an access to watched data
	case now.Leave && t.calls.Behind():
		return *t.pc()
	case now.Leave && t.s.isa.Stepless:
		regs := t.leaving()
		return regs[t.s.isa.PC()]
	case now.Leave, now.Placement.Target.Entry() && *t.pc() == t.at.addr:
		ret, _ := t.s.isa.ReturnAddress(&t.regs, &t.s.mem)
		return t.s.isa.Target(ret)
	}
	var pcs [2]uint64
	if t.Stack(pcs[:]) < 2 {
		return 0
	}
	return pcs[1]
}

// Text implements runtime.Thread.
func (t *thread) Text(f runtime.TextField, p []byte) int {
	var s string
	switch f {
	case runtime.TextComm:
		s = t.comm()
	case runtime.TextFunc:
		s, _ = t.codePlace()
	case runtime.TextModule:
		_, s = t.codePlace()
	case runtime.TextProbe:
		s = t.h.Now.Placement.Probe.Spec.Name
	}
	copy(p, s)
	return len(s)
}

// codePlace returns the names of the function and the file of the code that was hit.
func (t *thread) codePlace() (function, file string) {
	if pl := t.h.Now.Placement; !pl.Data {
		return pl.Func, pl.Module
	}
	sym := t.s.names.Name(module.Find(t.s.mods, *t.pc()-1), *t.pc()-1)
	return sym.Func, sym.Module
}

// comm returns the name of the program, truncated as kernels do it.
func (t *thread) comm() string { return t.s.comm[:min(len(t.s.comm), 15)] }

// Stack implements runtime.Thread.
func (t *thread) Stack(pcs []uint64) int {
	if t.s.walker == nil {
		layout, err := unwind.LayoutOf(t.s.isa.Arch)
		if err != nil {
			if len(pcs) == 0 {
				return 0
			}
			pcs[0] = *t.pc()
			return 1
		}
		t.s.walker = unwind.NewWalker(layout)
	}
	return t.s.walker.Walk(&t.regs, &t.s.mem, t.s.findTable, pcs)
}

// findTable returns the call-frame information for an address.
func (s *Session) findTable(pc uint64) (*unwind.Table, uint64, bool) {
	m := module.Find(s.mods, pc)
	if m == nil || m.File == nil || m.Err != nil {
		return nil, 0, m != nil
	}
	return s.names.Table(m.File), m.Bias, true
}
