package engine

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"

	"gotap/arch"
	"gotap/engine/abi"
	"gotap/engine/image/module"
	"gotap/engine/image/unwind"
	"gotap/engine/linux/procfs"
	"gotap/engine/linux/ptrace"
	"gotap/runtime"
)

// This file provides what a program may ask of the thread that hit: thread implements runtime.Thread. Everything is
// fetched only when it is asked for.

// ReadMemory implements runtime.Thread. It hides breakpoints.
func (t *thread) ReadMemory(addr uint64, p []byte) int {
	return t.proc.space.read(t.proc.arch.Address(addr), p)
}

// WriteMemory implements runtime.Thread. It fails for memory that the program may not write and for memory that
// contains a breakpoint.
func (t *thread) WriteMemory(addr uint64, p []byte) bool {
	sp := t.proc.space
	addr = t.proc.arch.Address(addr)
	if addr < sp.hi && addr+uint64(len(p)) > sp.lo {
		if sp.overBreakpoint(addr, len(p)) {
			return false
		}
	}
	// Read-only pages of private memory are written through the kernel, as by a debugger.
	return sp.mem.WriteMemory(addr, p) == nil || sp.mem.Poke(addr, p, t.tid) == nil
}

var _ runtime.Mapper = (*thread)(nil)

// Writable implements runtime.Mapper. The kernel has no call that reports this without writing.
func (t *thread) Writable(addr, n uint64) bool {
	maps, err := module.Maps(t.proc.pid)
	return err == nil && module.Writable(maps, t.proc.arch.Address(addr), n)
}

// overBreakpoint reports whether any of n bytes at addr belongs to a breakpoint.
func (sp *space) overBreakpoint(addr uint64, n int) bool {
	for at := addr - (longestTrap - 1); at != addr+uint64(n); at++ {
		if pt := sp.points[at]; pt != nil && pt.planted && at+uint64(len(pt.trap)) > addr {
			return true
		}
	}
	return false
}

// Arg implements runtime.Thread.
func (t *thread) Arg(n int) (uint64, bool) {
	a := t.proc.arch
	if t.sys.in {
		return t.proc.arch.Word(a.SyscallArg(n, &t.regs)), n < 6
	}
	v, err := a.Arg(n, &t.regs, t.proc.space.mem)
	return t.proc.arch.Word(v), err == nil
}

// ArgFloat implements runtime.Thread. In the calling conventions of 64-bit processors the first eight
// floating-point arguments are in vector registers. On IA-32 they are on the stack, at offsets that depend on the
// types.
func (t *thread) ArgFloat(n int) (float64, bool) {
	if n == runtime.FloatTop {
		if t.proc.arch.FloatTop == nil || !t.getFPRegs() {
			return 0, false
		}
		return t.proc.arch.FloatTop(&t.fp), true
	}
	return t.floatReg(t.proc.arch.ArgFloat(n))
}

// floatReg returns the low lane of vector register n.
func (t *thread) floatReg(n int) (float64, bool) {
	if n < 0 || !t.getFPRegs() {
		return 0, false
	}
	bits, ok := t.proc.arch.Float(&t.fp, n)
	return math.Float64frombits(bits), ok
}

// FloatWord implements runtime.Thread.
func (t *thread) FloatWord(n int) (uint64, bool) {
	if !t.getFPRegs() {
		return 0, false
	}
	return t.proc.arch.FloatWord(&t.fp, n)
}

// getFPRegs reads the floating-point and vector registers, at most once per hit.
func (t *thread) getFPRegs() bool {
	if !t.fpRead {
		_, e := ptrace.GetFPRegs(t.tid, &t.fp, t.proc.arch.WordSize())
		t.fpRead = e == 0
	}
	return t.fpRead
}

// Return implements runtime.Thread.
func (t *thread) Return() uint64 {
	if t.sys.in {
		return t.proc.arch.SyscallRet(&t.regs)
	}
	return t.proc.arch.Word(t.regs[t.proc.arch.Ret()])
}

// SetReturn implements runtime.Thread.
func (t *thread) SetReturn(v uint64) { t.regs[t.proc.arch.Ret()] = v }

// Field implements runtime.Thread.
func (t *thread) Field(f runtime.Field) uint64 {
	switch f {
	case runtime.FieldPid:
		return uint64(t.proc.pid)
	case runtime.FieldTid:
		return uint64(t.tid)
	case runtime.FieldPpid:
		return t.numberField("PPid")
	case runtime.FieldUid:
		return t.numberField("Uid")
	case runtime.FieldGid:
		return t.numberField("Gid")
	case runtime.FieldCPU:
		return t.cpu()
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
		return t.faultAddr
	case runtime.FieldSignal:
		return uint64(t.faultSig)
	}
	return 0
}

// numberField returns the first number of a field of /proc/TID/status.
func (t *thread) numberField(name string) uint64 {
	first, _, _ := strings.Cut(t.statusField(name), "\t")
	v, _ := strconv.ParseUint(first, 10, 64)
	return v
}

// cpu returns the processor that the thread last ran on: field 39 of /proc/TID/stat, counted from behind the
// thread's name, which may contain any character.
func (t *thread) cpu() uint64 {
	const field, behindName = 39, 3
	text := procfs.Read(t.tid, "stat")
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	if len(fields) <= field-behindName {
		return 0
	}
	v, _ := strconv.ParseUint(fields[field-behindName], 10, 64)
	return v
}

// caller returns the return address of the function. When the function is entered or left, it is read from where
// the calling convention puts it; otherwise it is found by unwinding.
func (t *thread) caller() uint64 {
	now := t.h.Now
	if t.at != nil && (now.Leave || now.Placement.Target.Entry() && *t.pc() == t.at.addr) {
		return t.returnAddress()
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
		var name [16]byte
		return copyText(p, string(name[:t.readComm(name[:])]))
	case runtime.TextFunc:
		s, _ = t.codePlace()
	case runtime.TextModule:
		_, s = t.codePlace()
	case runtime.TextProbe:
		s = t.h.Now.Placement.Probe.Spec.Name
	}
	return copyText(p, s)
}

// codePlace returns the names of the function and the file of the code that was hit. For a probe they are those of
// its place; for a watchpoint those of the instruction that hit it, which for data is the one before the program
// counter.
func (t *thread) codePlace() (function, file string) {
	pl := t.h.Now.Placement
	if !pl.Data {
		return pl.Func, pl.Module
	}
	m := module.Find(t.proc.space.mods, *t.pc()-1)
	if m == nil || m.Err != nil {
		return "", ""
	}
	if fn, ok := m.File.FuncAt(m.Vaddr(*t.pc() - 1)); ok {
		function = fn.Demangled()
	}
	return function, m.Path
}

// copyText copies as much of s as fits and returns the length of s.
func copyText(p []byte, s string) int {
	copy(p, s)
	return len(s)
}

// readComm reads the name of the thread into p, which is all zeros, and returns the name's length. The file stays
// open, because names change and are read again.
func (t *thread) readComm(p []byte) int {
	if t.comm == nil {
		f, err := os.Open(fmt.Sprintf("/proc/%d/task/%d/comm", t.proc.pid, t.tid))
		if err != nil {
			return 0
		}
		t.comm = f
	}
	n, _ := t.comm.ReadAt(p, 0)
	if n > 0 && p[n-1] == '\n' {
		n--
		p[n] = 0
	}
	return n
}

// Stack implements runtime.Thread.
func (t *thread) Stack(pcs []uint64) int {
	if t.walker == nil {
		w, err := t.s.newWalker(t.proc.arch)
		if err != nil {
			return 0
		}
		t.walker = w
	}
	return t.walker.Walk(&t.regs, maskedMemory{t.proc.space}, t.findTable, pcs)
}

// maskedMemory is the memory of an address space with the breakpoints hidden.
type maskedMemory struct{ sp *space }

func (m maskedMemory) ReadMemory(addr uint64, p []byte) error {
	if n := m.sp.read(addr, p); n != len(p) {
		return &arch.FaultError{Addr: addr + uint64(n)}
	}
	return nil
}

// findTable returns the call-frame information for an address. Slots belong to no module: unwinding starts from
// registers that have been corrected.
func (t *thread) findTable(pc uint64) (*unwind.Table, uint64, bool) {
	m := module.Find(t.proc.space.mods, pc)
	if m == nil {
		return t.vdsoTable(pc)
	}
	if m.File == nil || m.Err != nil {
		return nil, 0, true
	}
	return t.s.tableOf(m.File), m.Bias, true
}

// newWalker returns the unwinder of an architecture. All threads share it, because only the tracing thread uses it.
func (s *Session) newWalker(a *abi.ABI) (*unwind.Walker, error) {
	if w := s.walkers[a]; w != nil {
		return w, nil
	}
	layout, err := unwind.LayoutOf(a.Arch)
	if err != nil {
		return nil, err
	}
	w := unwind.NewWalker(layout)
	s.walkers[a] = w
	return w, nil
}
