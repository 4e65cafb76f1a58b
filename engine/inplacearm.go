package engine

import (
	"errors"
	"time"

	"gotap/arch"
	"gotap/engine/image/module"
	"gotap/engine/isa"
	"gotap/engine/linux/ptrace"
	"gotap/engine/space"
	"gotap/engine/threadstate"
)

// On processors where nothing is stepped, the emulation leaves some instructions to the processor: those that would
// fault, and those that access memory which only their own thread can reach. They run at their own address, with a
// breakpoint on the next instruction. The other threads are held meanwhile, because they would run past the missing
// breakpoint. A fault is then the kernel's own, with all its details.
//
// The next instruction is the one behind. An instruction that loads the program counter does not run like this: its
// memory could not be read, so it would fault, and the fault is made instead.

// mostLandings is the largest number of instructions that get a breakpoint: in an IT block, instructions whose
// condition fails are skipped, and a block has up to four.
const mostLandings = 5

// runInPlace runs the instruction of a point at its own address. The registers are at the instruction.
func (x *execution) runInPlace(p *space.Point) {
	x.t.s.stats.Steps++
	if p.Site.Insn().Control != arch.Plain {
		x.fault(p)
		return
	}
	x.t.s.stats.Held++
	held := x.t.s.world.holdWorld(x.t)
	x.t.s.patcher.Restore(p, x.t.Tid)
	landings := x.plantLandings(p)
	p.Steps++
	x.step = step{active: true, p: p, slot: p.Addr}
	x.t.SetRegs()
	x.t.state.To(threadstate.Running)
	x.t.Peeked = false
	st, ok := x.untilLanded()
	for _, l := range landings {
		x.t.s.patcher.RemoveLanding(p.Space, l, x.t.Tid)
	}
	x.t.s.patcher.Replant(p, &x.t.Thread)
	if x.t.s.world.releaseWorld(held); len(held) > 0 {
		time.Sleep(fairness)
	}
	x.t.stoppedAgain(ok && st.Stopped())
	if ok {
		x.landed(st)
	}
}

// plantLandings plants breakpoints behind the instruction of a point.
func (x *execution) plantLandings(p *space.Point) []space.Landing {
	var all []space.Landing
	n := 1
	if x.t.proc.arch.Is32BitARM() && x.t.Regs[isa.CPSR]&isa.BlockState != 0 {
		n = mostLandings
	}
	set := p.Space.ABI.Arch
	if x.thumb() {
		_, set = isa.ARM.Pointer(1)
	}
	for at := p.Addr + uint64(p.Length); len(all) < n; {
		code := p.Space.Code(at, isa.LongestInsn)
		in, err := set.Decode(code, at)
		if err != nil { // data or no memory: running it would fault anyway
			return all
		}
		l, ok := x.t.s.patcher.PlantLanding(p.Space, at, set.Breakpoint(in), x.t.Tid)
		if !ok {
			return all
		}
		all = append(all, l)
		at += uint64(in.Len)
	}
	return all
}

// thumb reports whether the thread runs Thumb code.
func (x *execution) thumb() bool {
	return x.t.proc.arch.Is32BitARM() && x.t.Regs[isa.CPSR]&isa.Thumb != 0
}

// untilLanded resumes the thread until it has reached a landing, raised a signal or exited. It keeps signals that
// others send.
func (x *execution) untilLanded() (st ptrace.Status, ok bool) {
	for {
		ptrace.Cont(x.t.Tid, 0)
		if st, ok = x.t.s.stops.waitFor(x.t.Tid); !ok || st.Ended() {
			return st, ok
		}
		if st.Event() == ptrace.EventStop && !st.GroupStop() {
			continue
		}
		if !x.t.GetRegs() || st.Event() != ptrace.EventNone || x.t.queue.Raised(st.Signal()) {
			return st, true
		}
		x.t.queue.Keep(st.Signal())
	}
}

// landed handles the stop that ends the run of an instruction at its own address.
func (x *execution) landed(st ptrace.Status) {
	p := x.step.p
	at := *x.t.PC()
	switch {
	case st.Ended() || st.Event() != ptrace.EventNone:
		x.cancelInPlace()
		x.t.s.stops.backlog = append(x.t.s.stops.backlog, stop{x.t.Tid, st})
	case st.Signal() == ptrace.SIGTRAP && at != p.Addr:
		x.endStep()
		x.t.finish()
	default:
		x.endStep()
		x.t.queue.Unmask()
		x.t.view.Fault(x.t.Info.Addr(), st.Signal())
		x.t.h.Faulted()
		x.t.queue.Requeue()
		x.t.resume(st.Signal())
	}
}

// cancelInPlace cancels such a run that was not completed. When the thread reaches the instruction again, that is
// not another hit.
func (x *execution) cancelInPlace() {
	p := x.step.p
	x.endStep()
	x.t.queue.Unmask()
	x.t.queue.Requeue()
	x.redo = redo{p.Addr, x.t.SP()}
	x.t.h.Commit()
}

// fault delivers the signal that an instruction would raise whose memory cannot be read.
func (x *execution) fault(p *space.Point) {
	const notMapped, notAllowed = 1, 2 // SEGV_MAPERR, SEGV_ACCERR
	at := p.Addr
	if f, ok := faultOf(x.t.emu.Complete(p.Site)); ok {
		at = f.Addr
	}
	code := int32(notMapped)
	if maps, err := module.Maps(x.t.Tid); err == nil {
		for _, m := range maps {
			if at >= m.Start && at < m.End {
				code = notAllowed
			}
		}
	}
	x.t.Info = ptrace.SigInfo{}
	x.t.Info.Make(ptrace.SIGSEGV, code, at)
	x.t.view.Fault(at, ptrace.SIGSEGV)
	x.t.h.Faulted()
	x.t.SetRegs()
	x.t.queue.ReplaceSignal(&x.t.Info)
	x.t.resume(ptrace.SIGSEGV)
}

// faultOf returns the access that made an emulation fail.
func faultOf(err error) (f *arch.FaultError, ok bool) {
	ok = errors.As(err, &f)
	return f, ok
}
