package engine

import (
	"errors"
	"time"

	"gotap/arch"
	"gotap/engine/image/module"
	"gotap/engine/isa"
	"gotap/engine/linux/ptrace"
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

// landing is a temporary breakpoint.
type landing struct {
	addr uint64
	old  []byte
}

// runAtHome runs the instruction of a point at its own address. The registers are at the instruction.
func (t *thread) runAtHome(p *point) {
	t.s.stats.Steps++
	if p.site.Insn().Control != arch.Plain {
		t.fault(p)
		return
	}
	t.s.stats.Held++
	held := t.s.holdWorld(t)
	t.s.restore(p, t.tid)
	landings := t.plantLandings(p)
	p.steps++
	t.step = step{active: true, p: p, slot: p.addr}
	t.setRegs()
	t.stopped, t.untaken = false, false
	st, ok := t.untilLanded()
	for _, l := range landings {
		p.sp.mem.Poke(l.addr, l.old, t.tid)
	}
	t.replant(p)
	if t.s.releaseWorld(held); len(held) > 0 {
		time.Sleep(fairness)
	}
	if t.stopped = ok && st.Stopped(); ok {
		t.landed(st)
	}
}

// plantLandings plants breakpoints behind the instruction of a point.
func (t *thread) plantLandings(p *point) []landing {
	var all []landing
	n := 1
	if t.proc.arch.Is32BitARM() && t.regs[isa.CPSR]&isa.BlockState != 0 {
		n = mostLandings
	}
	set := p.sp.arch.Arch
	if t.thumb() {
		_, set = isa.ARM.Pointer(1)
	}
	for at := p.addr + uint64(p.length); len(all) < n; {
		code := p.sp.code(at, longestInsn)
		in, err := set.Decode(code, at)
		if err != nil { // data or no memory: running it would fault anyway
			return all
		}
		l := landing{addr: at, old: make([]byte, len(set.Breakpoint(in)))}
		if p.sp.mem.Peek(at, l.old) != nil || p.sp.mem.Poke(at, set.Breakpoint(in), t.tid) != nil {
			return all
		}
		all = append(all, l)
		at += uint64(in.Len)
	}
	return all
}

// thumb reports whether the thread runs Thumb code.
func (t *thread) thumb() bool {
	return t.proc.arch.Is32BitARM() && t.regs[isa.CPSR]&isa.Thumb != 0
}

// untilLanded resumes the thread until it has reached a landing, raised a signal or exited. It keeps signals that
// others send.
func (t *thread) untilLanded() (st ptrace.Status, ok bool) {
	for {
		ptrace.Cont(t.tid, 0)
		if st, ok = t.s.waitFor(t.tid); !ok || st.Ended() {
			return st, ok
		}
		if st.Event() == ptrace.EventStop && !st.GroupStop() {
			continue
		}
		if !t.getRegs() || st.Event() != ptrace.EventNone || t.raised(st.Signal()) {
			return st, true
		}
		t.identify(st.Signal())
		t.keepSignal(st.Signal())
	}
}

// landed handles the stop that ends the run of an instruction at its own address.
func (t *thread) landed(st ptrace.Status) {
	p := t.step.p
	at := *t.pc()
	switch {
	case st.Ended() || st.Event() != ptrace.EventNone:
		t.cancelAtHome()
		t.s.backlog = append(t.s.backlog, stop{t.tid, st})
	case st.Signal() == ptrace.SIGTRAP && at != p.addr:
		t.endStep()
		t.finish()
	default:
		t.endStep()
		t.unmask()
		t.faultAddr, t.faultSig = t.info.Addr(), st.Signal()
		t.h.Faulted()
		t.requeue()
		t.resume(st.Signal())
	}
}

// cancelAtHome cancels such a run that was not completed. When the thread reaches the instruction again, that is
// not another hit.
func (t *thread) cancelAtHome() {
	p := t.step.p
	t.endStep()
	t.unmask()
	t.requeue()
	t.redo = redo{p.addr, t.sp()}
	t.h.Commit()
}

// fault delivers the signal that an instruction would raise whose memory cannot be read.
func (t *thread) fault(p *point) {
	const notMapped, notAllowed = 1, 2 // SEGV_MAPERR, SEGV_ACCERR
	at := p.addr
	if f, ok := faultOf(t.complete(p.site)); ok {
		at = f.Addr
	}
	code := int32(notMapped)
	if maps, err := module.Maps(t.tid); err == nil {
		for _, m := range maps {
			if at >= m.Start && at < m.End {
				code = notAllowed
			}
		}
	}
	t.info = ptrace.SigInfo{}
	t.info.Make(ptrace.SIGSEGV, code, at)
	t.faultAddr, t.faultSig = at, ptrace.SIGSEGV
	t.h.Faulted()
	t.setRegs()
	t.replaceSignal(&t.info)
	t.resume(ptrace.SIGSEGV)
}

// faultOf returns the access that made an emulation fail.
func faultOf(err error) (f *arch.FaultError, ok bool) {
	ok = errors.As(err, &f)
	return f, ok
}
