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
	"gotap/engine/view/stopped"
	"gotap/runtime"
)

var (
	_ runtime.Thread      = (*View)(nil)
	_ runtime.Mapper      = (*View)(nil)
	_ runtime.ProcessInfo = (*View)(nil)
	_ hit.Target          = (*View)(nil)
	_ retprobe.Target     = (*View)(nil)
)

// View is what programs see of a thread and do to it while they run: it implements runtime.Thread, hit.Target and
// retprobe.Target.
type View struct {
	*tracee.Thread
	stopped.View
	Space *space.Space // of its process, at present; Enter changes it
	At    *space.Point // what it has hit last; nil: no point
	On    Host

	emu     *emulation.Thread
	code    *Images
	patcher *space.Patcher

	generates bool // the last walk went through code of no module
	comm      *os.File
	ran       procfs.RunClock
	fp        ptrace.FPRegs
	fpRead    bool
	stack     stackMemory // of the last walk
}

// Host is what a view asks of the session.
type Host interface {
	// Siblings yields the calls of all threads of the process, this one's included.
	Siblings() iter.Seq[*retprobe.Thread]
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
	w.Thread, w.On = t, on
	w.emu, w.code, w.patcher = parts.Emulation, parts.Images, parts.Patcher
	w.View.Init(stopped.Parts{Thread: stoppedThread{w}, Regs: &t.Regs, Hit: parts.Hit, Calls: parts.Calls, Call: parts.Call})
	w.Enter(sp)
}

// Enter is called with the address space that the thread's process has from now on.
func (w *View) Enter(sp *space.Space) {
	w.Space = sp
	w.View.Enter(stopped.Image{ISA: sp.ABI.ISA, Memory: sp.Mem, Pointers: sp, Modules: &sp.Modules, Errno: &sp.Errno})
}

// Begin is called when programs are about to run in a new stop, at a point or, with nil, elsewhere.
func (w *View) Begin(at *space.Point) {
	w.stack.low, w.stack.high = 0, 0
	if w.At, w.fpRead = at, false; at == nil {
		w.View.At(nil, 0)
		return
	}
	w.View.At(&at.Point, at.Addr)
}

// SP returns the stack pointer.
func (w *View) SP() uint64 { return w.Thread.SP() }

// Ran is called when an instruction of the thread has run: the vector registers may have changed.
func (w *View) Ran() { w.fpRead = false }

// FPRegs returns the floating-point and vector registers, which are read at most once per hit, or nil if they cannot be
// read.
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
	if sp.Occupies(addr, len(p)) {
		return false
	}
	// Read-only pages of private memory are written through the kernel, as by a debugger.
	return sp.Mem.WriteMemory(addr, p) == nil || sp.Mem.Poke(addr, p, w.Tid) == nil
}

// Writable implements runtime.Mapper. The kernel has no call that reports this without writing.
func (w *View) Writable(addr, n uint64) bool {
	maps, err := module.Maps(w.Of.Pid())
	return err == nil && module.Writable(maps, w.Space.ABI.Address(addr), n)
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
	}
	return w.View.Field(f)
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

// Text implements runtime.Thread.
func (w *View) Text(f runtime.TextField, p []byte) int {
	switch f {
	case runtime.TextComm:
		var name [16]byte
		return stopped.CopyText(p, string(name[:w.readComm(name[:])]))
	case runtime.TextCgroup:
		return stopped.CopyText(p, procfs.Cgroup(w.Of.Pid()))
	}
	return w.View.Text(f, p)
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

// RunTime implements runtime.ProcessInfo.
func (w *View) RunTime() (uint64, bool) { return w.ran.Now(w.Of.Pid(), w.Tid) }

// Stack implements runtime.Thread.
func (w *View) Stack(pcs []uint64) int { return w.Frames(&w.Regs, pcs) }

// Walk finds the call stack of the thread from registers. It returns the number of addresses.
func (w *View) Walk(regs *arch.Regs, pcs []uint64) int { return w.walk(regs, pcs, nil) }

// walk is Walk, with the canonical frame addresses if cfas is not nil.
func (w *View) walk(regs *arch.Regs, pcs, cfas []uint64) int {
	w.generates = false
	defer w.noteGenerated()
	w.stack.maskedMemory = maskedMemory{w.Space}
	return w.code.Walk(w.Space.ABI.ISA, regs, &w.stack, w.findTable, pcs, cfas)
}

// noteGenerated tells those who name addresses that the thread runs code of no module, as long as the process can say
// what that is.
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

// stackMemory is the memory of a thread, of which native code has overwritten a part that the program does not need:
// from low up to high.
type stackMemory struct {
	maskedMemory
	low, high uint64
}

// Overwritten implements unwind.Overwritten.
func (m *stackMemory) Overwritten(addr uint64) bool { return m.low <= addr && addr < m.high }

// Overwrote tells, after Begin, that native code has overwritten memory below the stack pointer, from low up to high.
func (w *View) Overwrote(low, high uint64) { w.stack.low, w.stack.high = low, high }

// findTable returns the call-frame information for an address. Slots belong to no module: unwinding starts from
// registers that have been corrected.
func (w *View) findTable(pc uint64) (*unwind.Table, uint64, bool) {
	m := module.Find(w.Space.Modules, pc)
	if m == nil {
		t, bias, ok := w.vdsoTable(pc)
		w.generates = w.generates || !ok
		return t, bias, ok
	}
	return w.code.TableOf(m)
}

// The methods below are what package hit needs from a thread.

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
