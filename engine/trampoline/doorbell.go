package trampoline

import (
	"encoding/binary"
	"slices"

	"gotap/engine/crashsafe/fallback"
	"gotap/engine/space"
	"gotap/runtime/native"
)

// Doorbells: native code stops before an operation that it does not execute, at a breakpoint in the stub. The
// interpreter finishes the program, with the registers that the thread had at the place. Then the thread continues in
// the stub, with the next program or with the displaced instructions.

// bell is a doorbell in the memory of a process.
type bell struct {
	native.Bell
	p     *space.Point
	stub  uint64      // address of its stub
	tail  uint64      // where the displaced instructions are
	arena uint64      // where the stub finds the arena
	run   *space.Run  // nil: nothing is to run there
	rest  []space.Run // the runs that follow
}

// hangBells makes the doorbells of a stub known, to the session and to the crash handler.
func (c *Executor) hangBells(p *space.Point, stub uint64, s *native.Stub, arena uint64, stopped int) error {
	g, m := &p.Space.Guard, machineOf(p.Space)
	var list []fallback.Displaced
	for _, d := range s.Doorbells {
		addr := stub + uint64(d.Offset)
		codeIn(p.Space).jumps.bells[addr] = &bell{
			Bell: d, p: p, stub: stub, tail: stub + uint64(s.Tail), arena: arena, run: &p.Jump.Runs[d.Program], rest: p.Jump.Runs[d.Program+1:]}
		list = append(list, fallback.Displaced{Addr: addr, Orig: m.silent, Trap: m.trap})
	}
	g.RecordAll(list, stopped)
	for _, d := range list {
		if _, _, ok := g.Table.Lookup(d.Addr); !ok {
			return errTableFull
		}
	}
	return nil
}

// Silence implements Jumps: it makes all doorbells of an address space do nothing.
func (c *Executor) Silence(sp *space.Space) {
	stopped := c.on.StoppedTid(sp)
	for addr, b := range codeIn(sp).jumps.bells {
		sp.Mem.Poke(addr, machineOf(sp).silent, stopped)
		b.p.Jump.Runs = nil // its stub is not used again
	}
}

// AnswersBell handles a SIGTRAP of a thread whose registers have been read, if it comes from a doorbell, and reports
// whether it does.
func (t *Thread) AnswersBell() bool {
	b := codeIn(t.proc.Space).jumps.bells[t.proc.Space.ABI.BreakpointPC(*t.PC())]
	if b == nil || t.SignalCode() != t.proc.Space.ABI.TrapCode {
		return false
	}
	t.answer(b)
	return true
}

// behind returns the address behind the breakpoint: a way to the end of the stub.
func (b *bell) behind() uint64 {
	return b.stub + uint64(b.Offset+len(machineOf(b.p.Space).trap))
}

// answer handles a doorbell: the thread has stopped there, and its registers have been read.
func (t *Thread) answer(b *bell) {
	t.by.set.Stats.Hits++
	if b.Wakes {
		t.by.set.Arena.WakeReader()
		t.pass(b)
		return
	}
	t.enlist(t.ownData())
	if b.run == nil || t.by.on.Closing() {
		*t.PC() = b.behind()
		t.parts.Hit.Begin(t.proc.Space.ABI.WordSize())
		t.on.Finish()
		return
	}
	if due := b.Call == native.LeavesCall; !b.run.Placement.Probe.Armed() && !due { // due: of a call that began before the probe was removed
		t.pass(b)
		return
	}
	rung := t.Regs
	frame, ok := t.readFrame(b)
	if !ok { // the stack cannot be read, and the thread will fault there by itself
		b.run.Placement.Probe.Miss()
		t.pass(b)
		return
	}
	b.State(rung[:], frame, &t.stack.rung)
	b.Restore(t.Regs[:], frame)
	*t.PC() = b.p.Addr
	t.parts.View.Begin(b.p)
	low := rung[t.proc.Space.ABI.ISA.SP()]
	t.parts.View.Overwrote(low, low+uint64(b.Written()))
	b.p.Space.Mem.Stack = t.SP()
	t.parts.Hit.Begin(t.proc.Space.ABI.WordSize())
	next := b.Resume
	switch {
	case b.When && isFrom(*b.run):
		if t.parts.Hit.Begins(b.run.Placement) {
			next = b.Pass
		}
	case b.When:
		if t.parts.Hit.ContinueWhen(b.run.Placement, &t.stack.rung) {
			next = b.Pass
		}
	case b.Call != native.NoCall:
		t.answerCall(b, rung[:], frame)
	default:
		t.parts.Hit.Continue(b.run.Placement, &t.stack.rung)
	}
	if b.Reads != nil {
		reader{t}.missed(b.Reads, b.Reads.Address(rung[:], frame))
	}
	if b.changes() {
		t.completeHit(b)
		return
	}
	t.commitOrFault(b)
	t.by.heedRing(b)
	t.Regs = rung
	*t.PC() = b.stub + uint64(next)
	t.on.Finish()
}

// commitOrFault makes the logs of the hit visible, unless the instruction at the place is about to fault.
func (t *Thread) commitOrFault(b *bell) {
	switch {
	case t.parts.Hit.Len() == 0:
	case (reader{t}).faults(b.p):
		t.parts.Hit.Faulted()
	default:
		t.parts.Hit.Commit()
	}
}

// pass has the thread continue behind a doorbell with the next program.
func (t *Thread) pass(b *bell) {
	t.parts.Hit.Begin(t.proc.Space.ABI.WordSize())
	*t.PC() = b.stub + uint64(b.Resume)
	t.on.Finish()
}

// readFrame reads the words that a stub has on the stack of the thread.
func (t *Thread) readFrame(b *bell) (words []uint64, ok bool) {
	n := b.FrameWords()
	raw := slices.Grow(t.stack.raw[:0], 8*n)[:8*n]
	t.stack.raw = raw
	if n > 0 && t.proc.Space.Mem.ReadMemory(t.SP(), raw) != nil {
		return nil, false
	}
	frame := t.stack.frame[:0]
	for ; len(raw) > 0; raw = raw[8:] {
		frame = append(frame, binary.LittleEndian.Uint64(raw))
	}
	t.stack.frame = frame
	return frame, true
}
