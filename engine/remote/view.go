package remote

import (
	"iter"

	"gotap/arch"
	"gotap/engine/isa"
	"gotap/engine/registry/hit"
	"gotap/engine/registry/retprobe"
	"gotap/engine/remote/memory"
	"gotap/engine/remote/register"
	"gotap/engine/syscallprobe"
	"gotap/engine/view/stopped"
	"gotap/runtime"
)

// view is the thread of the present hit as others see it: the programs that run there (runtime.Thread), and the calls
// that are followed (retprobe.Target). What the registers, the memory and the modules say of it is the same as in
// native tracing (package stopped). Apart from the registers and the memory, whose changes programs ask for, a view
// changes nothing. The control's lock guards it.
type view struct {
	stopped.View
	id      int // the thread's number
	stub    *stub
	mem     *memory.Memory
	program *program
	points  *breakpoints
	threads *threads
	regs    *register.File
	h       *hit.Hit
	sys     *syscallprobe.Calls

	at   *point    // the point that was hit; nil at a system call, or at an access to watched data
	left arch.Regs // the registers after the instruction that leaves a function
}

var (
	_ runtime.Thread      = (*view)(nil)
	_ runtime.ProcessInfo = (*view)(nil)
	_ runtime.Mapper      = (*view)(nil)
	_ retprobe.Target     = (*view)(nil)
	_ stopped.Thread      = (*view)(nil)
)

// newView returns the view of a thread in a session, with its calls.
func newView(s *Session, t *thread) view {
	return view{id: t.id, stub: &s.stub, mem: s.mem, program: &s.program, points: &s.points, threads: &s.threads, regs: &t.regs, h: &t.h, sys: &t.sys}
}

// init connects the view, which stays where it is, with the parts that it shows.
func (v *view) init(calls *retprobe.Thread) {
	v.View.Init(stopped.Parts{Thread: v, Regs: &v.regs.General, Hit: v.h, Calls: calls, Call: v.sys})
	v.Enter(stopped.Image{ISA: v.stub.isa.ISA, Memory: v.mem, Pointers: v.mem, Modules: &v.program.mods, Errno: &v.program.errno})
}

// begin is called when programs are about to run in a new stop, at a point or, with nil, elsewhere.
func (v *view) begin(at *point) {
	if v.at = at; at == nil {
		v.At(nil, 0)
		return
	}
	v.At(&at.Point, at.Addr)
}

// ReadMemory implements runtime.Thread. It hides breakpoints.
func (v *view) ReadMemory(addr uint64, p []byte) int { return v.mem.Read(v.stub.isa.Address(addr), p) }

// WriteMemory implements runtime.Thread. It fails for memory that contains a breakpoint.
func (v *view) WriteMemory(addr uint64, p []byte) bool {
	addr = v.stub.isa.Address(addr)
	return !v.points.overlap(addr, len(p)) && v.mem.WriteMemory(addr, p) == nil
}

// Writable implements runtime.Mapper.
func (v *view) Writable(addr, n uint64) bool { return v.program.writable(v.stub.isa.Address(addr), n) }

// Arg implements runtime.Thread. In the kernel's function of a system call the arguments are those of the call.
func (v *view) Arg(n int) (uint64, bool) {
	if pl := v.h.Now.Placement; !v.sys.InPrograms() && pl != nil && isKernelCall(pl.Target) {
		return v.kernelCallArg(n)
	}
	return v.View.Arg(n)
}

// ArgFloat implements runtime.Thread.
func (v *view) ArgFloat(n int) (float64, bool) {
	if n == runtime.FloatTop {
		return v.regs.FloatTop(v.stub.isQEMU)
	}
	return v.regs.Float(v.stub.isa.ArgFloat(n))
}

// FloatWord implements runtime.Thread.
func (v *view) FloatWord(n int) (uint64, bool) {
	if n >= isa.FloatStack && n < isa.FloatControl {
		return v.regs.FloatStackWord(n, v.stub.isQEMU)
	}
	return v.regs.FloatWord(n)
}

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
	}
	return v.View.Field(f)
}

// Text implements runtime.Thread.
func (v *view) Text(f runtime.TextField, p []byte) int {
	if f == runtime.TextComm {
		return stopped.CopyText(p, v.comm())
	}
	return v.View.Text(f, p)
}

// comm returns the name of the program, truncated as kernels do it.
func (v *view) comm() string { return v.program.comm[:min(len(v.program.comm), 15)] }

// Stack implements runtime.Thread.
func (v *view) Stack(pcs []uint64) int { return v.Walk(&v.regs.General, pcs) }

// RunTime implements runtime.ProcessInfo. A stub does not report it.
func (v *view) RunTime() (uint64, bool) { return 0, false }

// Goroutine implements retprobe.Target. While it is not known which goroutine runs, the stacks of all may have moved.
func (v *view) Goroutine() (g, hi uint64) {
	if g, hi = v.View.Goroutine(); g == 0 {
		v.threads.stacksMoved(v.mem)
	}
	return g, hi
}

// Walk implements stopped.Thread.
func (v *view) Walk(regs *arch.Regs, pcs []uint64) int { return v.program.walk(regs, pcs) }

// Leaving implements stopped.Thread.
func (v *view) Leaving() (regs *arch.Regs, ok bool) {
	v.left = v.regs.General
	return &v.left, v.stub.isa.Leave(&v.left, v.at.Site, v.mem)
}

// Emulated implements stopped.Thread.
func (v *view) Emulated() arch.Memory { return v.mem }

// PointTo implements stopped.Thread.
func (v *view) PointTo(pointer uint64) (*retprobe.Point, error) {
	return v.points.shared(v.stub.isa.Pointer(pointer))
}

// Siblings implements stopped.Thread.
func (v *view) Siblings() iter.Seq[*retprobe.Thread] { return v.threads.calls() }
