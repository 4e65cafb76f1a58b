package trampoline

import (
	"fmt"
	"slices"
	"time"

	"gotap/engine/crashsafe/fallback"
	"gotap/engine/linux/procfs"
	"gotap/engine/linux/ptrace"
	"gotap/runtime/ranges"
)

// Reads of native code that fault: the memory was readable when the table of ranges was filled, and is not any more.

// readFault is a thread that is stopped with a signal at an instruction of a stub that reads.
type readFault struct {
	*Thread
	sig    int
	action *fallback.Action // the program's own
}

// AnswersRead handles a signal that a read of native code has raised, and reports whether it did. The signal is not the
// program's. The thread goes on as if the doorbell of the read had rung, and the interpreter reads, and traps if it
// cannot either.
func (t *Thread) AnswersRead(sig int) bool {
	n := slices.Index(readSignals[:], sig)
	if n < 0 || !t.GetRegs() {
		return false
	}
	f, s := codeIn(t.proc.Space).jumps.readAt(*t.PC())
	if f == nil {
		return false
	}
	x := readFault{t, sig, &t.proc.actions.own[n]}
	raised := t.parts.Queue.Raised(sig)
	if !raised && !x.wasReset() { // somebody has sent it
		return false
	}
	sent := t.Info
	machineOf(t.proc.Space).ring(f, s.start, t.Regs[:])
	t.SetRegs()
	x.restore()
	if !raised { // the kernel reports a blocked signal that was sent, and not the fault
		t.parts.Queue.Resend(&sent)
	}
	b := codeIn(t.proc.Space).jumps.bells[s.start+uint64(f.Bell)]
	if b == nil {
		t.on.Finish()
		return true
	}
	if !f.Own { // else the thread has no data where the base of fs says
		t.by.set.Stats.ReadFaults++
		reader{t}.faulted(b)
	}
	t.answer(b)
	return true
}

// wasReset reports whether the kernel has replaced the program's action by the default.
func (x readFault) wasReset() bool {
	bit := uint64(1) << (x.sig - 1)
	switch {
	case x.proc.actions.of != x.proc.Space:
		return false
	case x.action.Caught():
		return procfs.SignalSet(x.Tid, "SigCgt")&bit == 0
	case x.action.Handler == fallback.Ignore:
		return procfs.SignalSet(x.Tid, "SigIgn")&bit == 0
	}
	return false
}

// restore restores what the kernel has reset because the thread blocks the signal, or the program ignores it. Once that
// has happened, all reads of the process ring.
func (x readFault) restore() {
	reset := x.wasReset()
	blocked := x.blocksRest() || reset && x.action.Caught()
	if blocked {
		x.parts.Queue.Block(1 << (x.sig - 1))
	}
	if reset {
		x.putBack()
	}
	if reset || blocked {
		codeIn(x.proc.Space).reads.empty(longestWait)
	}
}

// putBack sets the program's action again, unless the program has set the default itself.
func (x readFault) putBack() {
	taken := *x.action
	taken.Handler = fallback.Default
	if now, err := x.parts.Guard.QueryAction(x.sig); err != nil || now != taken {
		x.proc.actions.of = nil
		return
	}
	if err := x.parts.Guard.SetAction(x.sig, *x.action); err != nil {
		x.by.on.Warn(fmt.Sprintf("process %d: its action for signal %d cannot be put back: %v", x.proc.Pid, x.sig, err))
	}
}

// blocksRest reports whether the thread blocks all other signals that instructions raise. SIGTRAP may be left out
// (package crashsafe).
func (x readFault) blocksRest() bool {
	rest := ptrace.Synchronous &^ ptrace.TrapBit &^ (1 << (x.sig - 1))
	mask, ok := x.parts.Queue.Mask()
	return ok && mask&uint64(rest) == uint64(rest)
}

// faulted fills the table again, without the page of a read that has faulted if the process has it mapped still.
func (t reader) faulted(b *bell) {
	const page = 4096
	r := &codeIn(t.proc.Space).reads
	if b.Reads != nil && b.Reads.Operand { // the program has this fault anyway, and may have many
		if !time.Now().Before(r.next) {
			t.fill()
		}
		return
	}
	if r.faults++; r.faults >= mostFaults {
		r.refused = errFaults
		r.empty(0)
		return
	}
	frame, ok := t.readFrame(b)
	if !r.filled || !ok || b.Reads == nil {
		return
	}
	addr, n := b.Reads.Address(t.Regs[:], frame), b.Reads.Size
	if t.fill(); !r.filled || !r.table.Contains(addr, n) {
		return
	}
	if len(r.exempt) == mostExempt {
		r.refused = errFaults
		r.empty(0)
		return
	}
	start := addr &^ (page - 1)
	r.exempt = append(r.exempt, ranges.Range{Start: start, End: (addr+uint64(n)-1)&^(page-1) + page})
	t.fill()
}
