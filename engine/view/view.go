package view

import (
	"fmt"
	"iter"
	"math"
	"os"
	"strconv"
	"strings"
	"syscall"

	"gotap/arch"
	"gotap/engine/emulation"
	"gotap/engine/image/module"
	"gotap/engine/image/unwind"
	"gotap/engine/linux/procfs"
	"gotap/engine/linux/ptrace"
	"gotap/engine/registry"
	"gotap/engine/registry/hit"
	"gotap/engine/registry/retprobe"
	"gotap/engine/space"
	"gotap/engine/syscallprobe"
	"gotap/engine/tracee"
	"gotap/runtime"
)

// View is what programs see of a thread and do to it while they run: it implements runtime.Thread, hit.Target and
// retprobe.Target.
type View struct {
	*tracee.Thread
	Space *space.Space // of its process, at present
	At    *space.Point // what it has hit last; nil: no point
	On    Host

	hit     *hit.Hit
	calls   *retprobe.Thread
	call    *syscallprobe.Calls
	emu     *emulation.Thread
	code    *Images
	patcher *space.Patcher

	walker    *unwind.Walker
	generates bool // the last walk went through code of no module
	comm      *os.File
	ran       procfs.RunClock
	fp        ptrace.FPRegs
	fpRead    bool
	faultAddr uint64 // of the instruction that faulted, for fault handlers
	faultSig  int
}

// Host is what a view asks of the session.
type Host interface {
	// Siblings yields the views of all threads of the process, this one's included.
	Siblings() iter.Seq[*View]
	// Disarm disarms a probe at the end of the present stop.
	Disarm(pr *registry.Probe)
	// LeaveStopped notes that a program has stopped the process for a debugger.
	LeaveStopped()
	// Dump writes a core of the process, in which the thread has the given registers. Its own have been written.
	Dump(regs []uint64)
	// Hold keeps the thread stopped after the present hit until the session's user releases it.
	Hold(ticket uint32)
}

// Parts are what a view shows of a thread besides its registers and memory.
type Parts struct {
	Hit       *hit.Hit
	Calls     *retprobe.Thread
	Call      *syscallprobe.Calls
	Emulation *emulation.Thread
	Images    *Images
	Patcher   *space.Patcher
}

// Init makes it ready for a thread in an address space.
func (w *View) Init(t *tracee.Thread, sp *space.Space, on Host, parts Parts) {
	w.Thread, w.Space, w.On = t, sp, on
	w.hit, w.calls, w.call, w.emu, w.code, w.patcher = parts.Hit, parts.Calls, parts.Call, parts.Emulation, parts.Images, parts.Patcher
}

// Begin is called when programs are about to run in a new stop, at a point or, with nil, elsewhere.
func (w *View) Begin(at *space.Point) { w.At, w.fpRead = at, false }

// Ran is called when an instruction of the thread has run: the vector registers may have changed.
func (w *View) Ran() { w.fpRead = false }

// Fault notes where an instruction has faulted, and with which signal, for fault handlers.
func (w *View) Fault(addr uint64, sig int) { w.faultAddr, w.faultSig = addr, sig }

// FPRegs returns the floating-point and vector registers, which are read at most once per hit, or nil if they cannot be read.
func (w *View) FPRegs() *ptrace.FPRegs {
	if !w.getFPRegs() {
		return nil
	}
	return &w.fp
}

// ReadMemory implements runtime.Thread. It hides breakpoints.
func (w *View) ReadMemory(addr uint64, p []byte) int {
	return w.Space.Read(w.Space.ABI.Address(addr), p)
}

// WriteMemory implements runtime.Thread. It fails for memory that the program may not write and for memory that
// contains a breakpoint.
func (w *View) WriteMemory(addr uint64, p []byte) bool {
	sp := w.Space
	addr = w.Space.ABI.Address(addr)
	if sp.OverBreakpoint(addr, len(p)) {
		return false
	}
	// Read-only pages of private memory are written through the kernel, as by a debugger.
	return sp.Mem.WriteMemory(addr, p) == nil || sp.Mem.Poke(addr, p, w.Tid) == nil
}

var _ runtime.Mapper = (*View)(nil)

// Writable implements runtime.Mapper. The kernel has no call that reports this without writing.
func (w *View) Writable(addr, n uint64) bool {
	maps, err := module.Maps(w.Of.Pid())
	return err == nil && module.Writable(maps, w.Space.ABI.Address(addr), n)
}

// Arg implements runtime.Thread.
func (w *View) Arg(n int) (uint64, bool) {
	a := w.Space.ABI
	if w.call.InPrograms() {
		return w.Space.ABI.Word(a.SyscallArg(n, &w.Regs)), n < 6
	}
	v, err := a.Arg(n, &w.Regs, w.Space.Mem)
	return w.Space.ABI.Word(v), err == nil
}

// ArgFloat implements runtime.Thread. In the calling conventions of 64-bit processors the first eight
// floating-point arguments are in vector registers. On IA-32 they are on the stack, at offsets that depend on the
// types.
func (w *View) ArgFloat(n int) (float64, bool) {
	if n == runtime.FloatTop {
		if w.Space.ABI.FloatTop == nil || !w.getFPRegs() {
			return 0, false
		}
		return w.Space.ABI.FloatTop(&w.fp), true
	}
	return w.floatReg(w.Space.ABI.ArgFloat(n))
}

// floatReg returns the low lane of vector register n.
func (w *View) floatReg(n int) (float64, bool) {
	if n < 0 || !w.getFPRegs() {
		return 0, false
	}
	bits, ok := w.Space.ABI.Float(&w.fp, n)
	return math.Float64frombits(bits), ok
}

// FloatWord implements runtime.Thread.
func (w *View) FloatWord(n int) (uint64, bool) {
	if !w.getFPRegs() {
		return 0, false
	}
	return w.Space.ABI.FloatWord(&w.fp, n)
}

// getFPRegs reads the floating-point and vector registers, at most once per hit.
func (w *View) getFPRegs() bool {
	if !w.fpRead {
		_, e := ptrace.GetFPRegs(w.Tid, &w.fp, w.Space.ABI.WordSize())
		w.fpRead = e == 0
	}
	return w.fpRead
}

// RepairFPRegs reads the floating-point and vector registers again, and writes them back if they have to be changed.
func (w *View) RepairFPRegs(change func(*ptrace.FPRegs) bool) syscall.Errno {
	word := w.ABI().WordSize()
	_, e := ptrace.GetFPRegs(w.Tid, &w.fp, word)
	if e == 0 && change(&w.fp) {
		e = ptrace.SetFPRegs(w.Tid, &w.fp, word)
	}
	return e
}

// Return implements runtime.Thread.
func (w *View) Return() uint64 {
	if w.call.InPrograms() {
		return w.Space.ABI.SyscallRet(&w.Regs)
	}
	return w.Space.ABI.Word(w.Regs[w.Space.ABI.Ret()])
}

// SetReturn implements runtime.Thread.
func (w *View) SetReturn(v uint64) { w.Regs[w.Space.ABI.Ret()] = v }

// Field implements runtime.Thread.
func (w *View) Field(f runtime.Field) uint64 {
	switch f {
	case runtime.FieldPid:
		return uint64(w.Of.Pid())
	case runtime.FieldTid:
		return uint64(w.Tid)
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
		return w.hit.Now.Elapsed
	case runtime.FieldPC:
		return *w.PC()
	case runtime.FieldSP:
		return w.Thread.SP()
	case runtime.FieldFrame:
		return w.hit.EntrySP(w.Thread.SP())
	case runtime.FieldResult:
		return w.hit.Now.Result
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
func (w *View) numberField(name string) uint64 {
	first, _, _ := strings.Cut(w.Status(name), "\t")
	v, _ := strconv.ParseUint(first, 10, 64)
	return v
}

// cpu returns the processor that the thread last ran on: field 39 of /proc/TID/stat, counted from behind the
// thread's name, which may contain any character.
func (w *View) cpu() uint64 {
	const field, behindName = 39, 3
	text := procfs.Read(w.Tid, "stat")
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	if len(fields) <= field-behindName {
		return 0
	}
	v, _ := strconv.ParseUint(fields[field-behindName], 10, 64)
	return v
}

// caller returns the return address of the function. When the function is entered or left, it is read from where
// the calling convention puts it; otherwise it is found by unwinding.
func (w *View) caller() uint64 {
	now := w.hit.Now
	if w.At != nil && (now.Leave || now.Placement.Target.Entry() && *w.PC() == w.At.Addr) {
		return w.returnAddress()
	}
	var pcs [2]uint64
	if w.Walk(&w.Regs, pcs[:]) < 2 {
		return 0
	}
	return pcs[1]
}

// Text implements runtime.Thread.
func (w *View) Text(f runtime.TextField, p []byte) int {
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
		s = w.hit.Now.Placement.Probe.Spec.Name
	case runtime.TextCgroup:
		s = procfs.Cgroup(w.Of.Pid())
	}
	return copyText(p, s)
}

// codePlace returns the names of the function and the file of the code that was hit. For a probe they are those of
// its place; for a sample those of where the thread is; for a watchpoint those of the instruction that hit it, which for
// data is the one before the program counter.
func (w *View) codePlace() (function, file string) {
	pl := w.hit.Now.Placement
	pc := *w.PC()
	switch {
	case pl.Data:
		pc--
	case !pl.Sample:
		return pl.Func, pl.Module
	}
	m := module.Find(w.Space.Modules, pc)
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
func (w *View) readComm(p []byte) int {
	if w.comm == nil {
		f, err := os.Open(fmt.Sprintf("/proc/%d/task/%d/comm", w.Of.Pid(), w.Tid))
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
func (w *View) Stack(pcs []uint64) int { return w.Frames(&w.Regs, pcs) }

// Walk finds the call stack of the thread from registers. It returns the number of addresses.
func (w *View) Walk(regs *arch.Regs, pcs []uint64) int { return w.walk(regs, pcs, nil) }

// walk is Walk, with the canonical frame addresses if cfas is not nil.
func (w *View) walk(regs *arch.Regs, pcs, cfas []uint64) int {
	w.generates = false
	defer w.noteGenerated()
	if w.walker == nil {
		walker, err := w.code.newWalker(w.Space.ABI)
		if err != nil {
			return 0
		}
		w.walker = walker
	}
	return w.walker.WalkFrames(regs, maskedMemory{w.Space}, w.findTable, pcs, cfas)
}

// noteGenerated tells those who name addresses that the thread runs code of no module, as long as the process can say what that is.
func (w *View) noteGenerated() {
	if w.generates {
		w.code.names.Generated(w.Of.Pid())
	}
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
func (w *View) findTable(pc uint64) (*unwind.Table, uint64, bool) {
	m := module.Find(w.Space.Modules, pc)
	if m == nil {
		t, bias, ok := w.vdsoTable(pc)
		w.generates = w.generates || !ok
		return t, bias, ok
	}
	if m.File == nil || m.Err != nil {
		return nil, 0, true
	}
	return w.code.tableOf(m.File), m.Bias, true
}

// The methods below are what package hit needs from a thread.

// Push implements hit.Target.
func (w *View) Push(pl *registry.Placement) (this uint64, ok bool) {
	return w.calls.Push(&w.At.Point, pl)
}

// CalledFrom implements hit.Target.
func (w *View) CalledFrom(pr *registry.Probe) bool { return pr.CalledFrom(w.caller(), w.Space.Modules) }

// IDs implements hit.Target.
func (w *View) IDs() (pid, tid int) { return w.Of.Pid(), w.Tid }

// Comm implements hit.Target.
func (w *View) Comm(p []byte) { w.readComm(p) }

// Disarm implements hit.Target.
func (w *View) Disarm(pr *registry.Probe) { w.On.Disarm(pr) }

// Signal implements hit.Target.
func (w *View) Signal(n int) { ptrace.SendThread(w.Of.Pid(), w.Tid, n) }

// Stop implements hit.Target.
func (w *View) Stop() {
	w.On.LeaveStopped()
	w.Signal(ptrace.SIGSTOP)
}

// Dump implements hit.Target.
func (w *View) Dump(regs []uint64) {
	w.SetRegs()
	w.On.Dump(regs)
}

// Hold implements hit.Target.
func (w *View) Hold(ticket uint32) { w.On.Hold(ticket) }
