package stepping

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
func (x *Thread) runInPlace(p *space.Point) {
	x.parts.Stats.Steps++
	if p.Site.Insn().Control != arch.Plain {
		x.fault(p)
		return
	}
	x.parts.Stats.Held++
	release := x.on.HoldOthers()
	x.parts.Patcher.Restore(p, x.Tid)
	landings := x.plantLandings(p)
	p.Steps++
	x.step = step{active: true, p: p, slot: p.Addr}
	x.SetRegs()
	x.parts.State.To(threadstate.Running)
	x.Peeked = false
	st, ok := x.untilLanded()
	for _, l := range landings {
		x.parts.Patcher.RemoveLanding(p.Space, l, x.Tid)
	}
	x.parts.Patcher.Replant(p, x.Thread)
	if release() {
		time.Sleep(fairness)
	}
	x.stoppedAgain(ok && st.Stopped())
	if ok {
		x.landed(st)
	}
}

// plantLandings plants breakpoints behind the instruction of a point.
func (x *Thread) plantLandings(p *space.Point) []space.Landing {
	var all []space.Landing
	n := 1
	if x.parts.View.Space.ABI.Is32BitARM() && x.Regs[isa.CPSR]&isa.BlockState != 0 {
		n = mostLandings
	}
	set := p.Space.ABI.Arch
	if x.Thumb() {
		_, set = isa.ARM.Pointer(1)
	}
	for at := p.Addr + uint64(p.Length); len(all) < n; {
		code := p.Space.Code(at, isa.LongestInsn)
		in, err := set.Decode(code, at)
		if err != nil { // data or no memory: running it would fault anyway
			return all
		}
		l, ok := x.parts.Patcher.PlantLanding(p.Space, at, set.Breakpoint(in), x.Tid)
		if !ok {
			return all
		}
		all = append(all, l)
		at += uint64(in.Len)
	}
	return all
}

// Thumb reports whether the thread runs Thumb code.
func (x *Thread) Thumb() bool {
	return x.parts.View.Space.ABI.Is32BitARM() && x.Regs[isa.CPSR]&isa.Thumb != 0
}

// untilLanded resumes the thread until it has reached a landing, raised a signal or exited. It keeps signals that
// others send.
func (x *Thread) untilLanded() (st ptrace.Status, ok bool) {
	for {
		ptrace.Cont(x.Tid, 0)
		if st, ok = x.on.PeekAny(); !ok || st.Ended() {
			return st, ok
		}
		x.Consume()
		if st.Event() == ptrace.EventStop && !st.GroupStop() {
			continue
		}
		if !x.GetRegs() || st.Event() != ptrace.EventNone || x.parts.Queue.Raised(st.Signal()) {
			return st, true
		}
		x.parts.Queue.Keep(st.Signal())
	}
}

// landed handles the stop that ends the run of an instruction at its own address.
func (x *Thread) landed(st ptrace.Status) {
	p := x.step.p
	at := *x.PC()
	switch {
	case st.Ended() || st.Event() != ptrace.EventNone:
		x.cancelInPlace()
		x.on.Later(st)
	case st.Signal() == ptrace.SIGTRAP && at != p.Addr:
		x.endStep()
		x.on.FinishWith(0)
	default:
		x.endStep()
		x.parts.Queue.Unmask()
		x.parts.View.Fault(x.Info.Addr(), st.Signal())
		x.parts.Hit.Faulted()
		x.parts.Queue.Requeue()
		x.on.Resume(st.Signal())
	}
}

// cancelInPlace cancels such a run that was not completed. When the thread reaches the instruction again, that is
// not another hit.
func (x *Thread) cancelInPlace() {
	p := x.step.p
	x.endStep()
	x.parts.Queue.Unmask()
	x.parts.Queue.Requeue()
	x.redo = redo{p.Addr, x.SP()}
	x.parts.Hit.Commit()
}

// fault delivers the signal that an instruction would raise whose memory cannot be read.
func (x *Thread) fault(p *space.Point) {
	const notMapped, notAllowed = 1, 2 // SEGV_MAPERR, SEGV_ACCERR
	at := p.Addr
	if f, ok := faultOf(x.parts.Emulation.Complete(p.Site)); ok {
		at = f.Addr
	}
	code := int32(notMapped)
	if maps, err := module.Maps(x.Tid); err == nil {
		for _, m := range maps {
			if at >= m.Start && at < m.End {
				code = notAllowed
			}
		}
	}
	x.Info = ptrace.SigInfo{}
	x.Info.Make(ptrace.SIGSEGV, code, at)
	x.parts.View.Fault(at, ptrace.SIGSEGV)
	x.parts.Hit.Faulted()
	x.SetRegs()
	x.parts.Queue.ReplaceSignal(&x.Info)
	x.on.Resume(ptrace.SIGSEGV)
}

// faultOf returns the access that made an emulation fail.
func faultOf(err error) (f *arch.FaultError, ok bool) {
	ok = errors.As(err, &f)
	return f, ok
}
