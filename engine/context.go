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
	"gotap/engine/space"
	"gotap/runtime"
)

// This file provides what a program may ask of the thread that hit: thread implements runtime.Thread. Everything is
// fetched only when it is asked for.

// view is what programs see of a thread and do to it while they run: it implements runtime.Thread, hit.Target and
// retprobe.Target.
type view struct {
	t         *thread
	walker    *unwind.Walker
	comm      *os.File
	ran       procfs.RunClock
	fp        ptrace.FPRegs
	fpRead    bool
	rung      runtime.State // the program that a doorbell has stopped
	frame     []uint64      // what its stub has on the stack
	raw       []byte        // the same as bytes
	faultAddr uint64        // of the instruction that faulted, for fault handlers
	faultSig  int
}

// ReadMemory implements runtime.Thread. It hides breakpoints.
func (w *view) ReadMemory(addr uint64, p []byte) int {
	return w.t.proc.space.Read(w.t.proc.arch.Address(addr), p)
}

// WriteMemory implements runtime.Thread. It fails for memory that the program may not write and for memory that
// contains a breakpoint.
func (w *view) WriteMemory(addr uint64, p []byte) bool {
	sp := w.t.proc.space
	addr = w.t.proc.arch.Address(addr)
	if sp.OverBreakpoint(addr, len(p)) {
		return false
	}
	// Read-only pages of private memory are written through the kernel, as by a debugger.
	return sp.Mem.WriteMemory(addr, p) == nil || sp.Mem.Poke(addr, p, w.t.Tid) == nil
}

var _ runtime.Mapper = (*view)(nil)

// Writable implements runtime.Mapper. The kernel has no call that reports this without writing.
func (w *view) Writable(addr, n uint64) bool {
	maps, err := module.Maps(w.t.proc.pid)
	return err == nil && module.Writable(maps, w.t.proc.arch.Address(addr), n)
}

// Arg implements runtime.Thread.
func (w *view) Arg(n int) (uint64, bool) {
	a := w.t.proc.arch
	if w.t.calling.InPrograms() {
		return w.t.proc.arch.Word(a.SyscallArg(n, &w.t.Regs)), n < 6
	}
	v, err := a.Arg(n, &w.t.Regs, w.t.proc.space.Mem)
	return w.t.proc.arch.Word(v), err == nil
}

// ArgFloat implements runtime.Thread. In the calling conventions of 64-bit processors the first eight
// floating-point arguments are in vector registers. On IA-32 they are on the stack, at offsets that depend on the
// types.
func (w *view) ArgFloat(n int) (float64, bool) {
	if n == runtime.FloatTop {
		if w.t.proc.arch.FloatTop == nil || !w.getFPRegs() {
			return 0, false
		}
		return w.t.proc.arch.FloatTop(&w.fp), true
	}
	return w.floatReg(w.t.proc.arch.ArgFloat(n))
}

// floatReg returns the low lane of vector register n.
func (w *view) floatReg(n int) (float64, bool) {
	if n < 0 || !w.getFPRegs() {
		return 0, false
	}
	bits, ok := w.t.proc.arch.Float(&w.fp, n)
	return math.Float64frombits(bits), ok
}

// FloatWord implements runtime.Thread.
func (w *view) FloatWord(n int) (uint64, bool) {
	if !w.getFPRegs() {
		return 0, false
	}
	return w.t.proc.arch.FloatWord(&w.fp, n)
}

// getFPRegs reads the floating-point and vector registers, at most once per hit.
func (w *view) getFPRegs() bool {
	if !w.fpRead {
		_, e := ptrace.GetFPRegs(w.t.Tid, &w.fp, w.t.proc.arch.WordSize())
		w.fpRead = e == 0
	}
	return w.fpRead
}

// Return implements runtime.Thread.
func (w *view) Return() uint64 {
	if w.t.calling.InPrograms() {
		return w.t.proc.arch.SyscallRet(&w.t.Regs)
	}
	return w.t.proc.arch.Word(w.t.Regs[w.t.proc.arch.Ret()])
}

// SetReturn implements runtime.Thread.
func (w *view) SetReturn(v uint64) { w.t.Regs[w.t.proc.arch.Ret()] = v }

// Field implements runtime.Thread.
func (w *view) Field(f runtime.Field) uint64 {
	switch f {
	case runtime.FieldPid:
		return uint64(w.t.proc.pid)
	case runtime.FieldTid:
		return uint64(w.t.Tid)
	case runtime.FieldPpid:
		return w.numberField("PPid")
	case runtime.FieldUid:
		return w.numberField("Uid")
	case runtime.FieldGid:
		return w.numberField("Gid")
	case runtime.FieldCPU:
		return w.cpu()
	case runtime.FieldTime:
		return ptrace.Now()
	case runtime.FieldElapsed:
		return w.t.h.Now.Elapsed
	case runtime.FieldPC:
		return *w.t.PC()
	case runtime.FieldSP:
		return w.t.SP()
	case runtime.FieldFrame:
		return w.t.h.EntrySP(w.t.SP())
	case runtime.FieldResult:
		return w.t.h.Now.Result
	case runtime.FieldCaller:
		return w.caller()
	case runtime.FieldFault:
		return w.faultAddr
	case runtime.FieldSignal:
		return uint64(w.faultSig)
	}
	return 0
}

// numberField returns the first number of a field of /proc/TID/status.
func (w *view) numberField(name string) uint64 {
	first, _, _ := strings.Cut(w.t.Status(name), "\t")
	v, _ := strconv.ParseUint(first, 10, 64)
	return v
}

// cpu returns the processor that the thread last ran on: field 39 of /proc/TID/stat, counted from behind the
// thread's name, which may contain any character.
func (w *view) cpu() uint64 {
	const field, behindName = 39, 3
	text := procfs.Read(w.t.Tid, "stat")
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	if len(fields) <= field-behindName {
		return 0
	}
	v, _ := strconv.ParseUint(fields[field-behindName], 10, 64)
	return v
}

// caller returns the return address of the function. When the function is entered or left, it is read from where
// the calling convention puts it; otherwise it is found by unwinding.
func (w *view) caller() uint64 {
	now := w.t.h.Now
	if w.t.at != nil && (now.Leave || now.Placement.Target.Entry() && *w.t.PC() == w.t.at.Addr) {
		return w.t.exec.returnAddress()
	}
	var pcs [2]uint64
	if w.Stack(pcs[:]) < 2 {
		return 0
	}
	return pcs[1]
}

// Text implements runtime.Thread.
func (w *view) Text(f runtime.TextField, p []byte) int {
	var s string
	switch f {
	case runtime.TextComm:
		var name [16]byte
		return copyText(p, string(name[:w.readComm(name[:])]))
	case runtime.TextFunc:
		s, _ = w.codePlace()
	case runtime.TextModule:
		_, s = w.codePlace()
	case runtime.TextProbe:
		s = w.t.h.Now.Placement.Probe.Spec.Name
	case runtime.TextCgroup:
		s = procfs.Cgroup(w.t.proc.pid)
	}
	return copyText(p, s)
}

// codePlace returns the names of the function and the file of the code that was hit. For a probe they are those of
// its place; for a sample those of where the thread is; for a watchpoint those of the instruction that hit it, which for
// data is the one before the program counter.
func (w *view) codePlace() (function, file string) {
	pl := w.t.h.Now.Placement
	pc := *w.t.PC()
	switch {
	case pl.Data:
		pc--
	case !pl.Sample:
		return pl.Func, pl.Module
	}
	m := module.Find(w.t.proc.space.Modules, pc)
	if m == nil || m.Err != nil {
		return "", ""
	}
	if fn, ok := m.File.FuncAt(m.Vaddr(pc)); ok {
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
func (w *view) readComm(p []byte) int {
	if w.comm == nil {
		f, err := os.Open(fmt.Sprintf("/proc/%d/task/%d/comm", w.t.proc.pid, w.t.Tid))
		if err != nil {
			return 0
		}
		w.comm = f
	}
	n, _ := w.comm.ReadAt(p, 0)
	if n > 0 && p[n-1] == '\n' {
		n--
		p[n] = 0
	}
	return n
}

// Stack implements runtime.Thread.
func (w *view) Stack(pcs []uint64) int { return w.walk(&w.t.Regs, pcs) }

// walk finds the call stack of the thread from registers.
func (w *view) walk(regs *arch.Regs, pcs []uint64) int {
	if w.walker == nil {
		walker, err := w.t.s.images.newWalker(w.t.proc.arch)
		if err != nil {
			return 0
		}
		w.walker = walker
	}
	return w.walker.Walk(regs, maskedMemory{w.t.proc.space}, w.findTable, pcs)
}

// maskedMemory is the memory of an address space with the breakpoints hidden.
type maskedMemory struct{ sp *space.Space }

func (m maskedMemory) ReadMemory(addr uint64, p []byte) error {
	if n := m.sp.Read(addr, p); n != len(p) {
		return &arch.FaultError{Addr: addr + uint64(n)}
	}
	return nil
}

// findTable returns the call-frame information for an address. Slots belong to no module: unwinding starts from
// registers that have been corrected.
func (w *view) findTable(pc uint64) (*unwind.Table, uint64, bool) {
	m := module.Find(w.t.proc.space.Modules, pc)
	if m == nil {
		return w.t.vdsoTable(pc)
	}
	if m.File == nil || m.Err != nil {
		return nil, 0, true
	}
	return w.t.s.images.tableOf(m.File), m.Bias, true
}

// newWalker returns the unwinder of an architecture. All threads share it, because only the tracing thread uses it.
func (g *images) newWalker(a *abi.ABI) (*unwind.Walker, error) {
	if w := g.walkers[a]; w != nil {
		return w, nil
	}
	layout, err := unwind.LayoutOf(a.Arch)
	if err != nil {
		return nil, err
	}
	w := unwind.NewWalker(layout)
	g.walkers[a] = w
	return w, nil
}
