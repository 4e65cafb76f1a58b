package engine

import (
	"encoding/binary"
	"slices"

	"gotap/engine/crashsafe/fallback"
	"gotap/engine/space"
	"gotap/runtime/native/amd64"
)

// Doorbells: native code stops before an operation that it does not execute, at a breakpoint in the stub. The interpreter finishes the
// program, with the registers that the thread had at the place. Then the thread continues in the stub, with the next program
// or with the displaced instructions.

// bell is a doorbell in the memory of a process.
type bell struct {
	amd64.Doorbell
	p     *space.Point
	stub  uint64     // address of its stub
	arena uint64     // where the stub finds the arena
	run   *space.Run // nil: nothing is to run there
}

// Bytes of a doorbell, and of what the crash handler makes of one that nobody answers.
var (
	bellTrap   = []byte{0xcc}
	bellSilent = []byte{0x90} // nop: a way to the end of the stub follows
)

// hangBells makes the doorbells of a stub known, to the session and to the crash handler.
func (c *natives) hangBells(p *space.Point, stub uint64, s *amd64.Stub, arena uint64, stopped int) error {
	g := &p.Space.Guard
	var list []fallback.Displaced
	for _, d := range s.Doorbells {
		addr := stub + uint64(d.Offset)
		codeIn(p.Space).jumps.bells[addr] = &bell{d, p, stub, arena, &p.Jump.Runs[d.Program]}
		list = append(list, fallback.Displaced{Addr: addr, Orig: bellSilent, Trap: bellTrap})
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
func (c *natives) Silence(sp *space.Space) {
	stopped := c.s.world.stoppedTid(sp)
	for addr, b := range codeIn(sp).jumps.bells {
		sp.Mem.Poke(addr, bellSilent, stopped)
		b.p.Jump.Runs = nil // its stub is not used again
	}
}

// answersBell handles a SIGTRAP of a thread whose registers have been read, if it comes from a doorbell, and reports whether it does.
func (t *thread) answersBell() bool {
	b := codeIn(t.proc.space).jumps.bells[t.proc.arch.BreakpointPC(*t.PC())]
	if b == nil || t.SignalCode() != t.proc.arch.TrapCode {
		return false
	}
	t.answer(b)
	return true
}

// answer handles a doorbell: the thread has stopped behind it, and its registers have been read.
func (t *thread) answer(b *bell) {
	t.s.stats.Hits++
	if b.Wakes {
		t.s.cfg.Arena.WakeReader()
		t.pass(b)
		return
	}
	t.enlist()
	if b.run == nil || t.s.life.closing { // a way to the end of the stub follows
		t.h.Begin(t.proc.arch.WordSize())
		t.finish()
		return
	}
	if due := b.Call == amd64.LeavesCall; !b.run.Placement.Probe.Armed() && !due { // due: of a call that began before the probe was removed
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
	t.view.Begin(b.p)
	b.p.Space.Mem.Stack = t.SP()
	t.h.Begin(t.proc.arch.WordSize())
	next := b.Resume
	switch {
	case b.When:
		if t.h.ContinueWhen(b.run.Placement, &t.stack.rung) {
			next = b.Pass
		}
	case b.Call != amd64.NoCall:
		t.answerCall(b, rung[:], frame)
	default:
		t.h.Continue(b.run.Placement, &t.stack.rung)
	}
	if t.h.Len() > 0 {
		t.h.Commit()
	}
	if b.Reads != nil {
		reader{t}.missed(b.Reads.Address(rung[:], frame), b.Reads.Size)
	}
	t.Regs = rung
	*t.PC() = b.stub + uint64(next)
	t.finish()
}

// pass has the thread continue behind a doorbell with the next program.
func (t *thread) pass(b *bell) {
	t.h.Begin(t.proc.arch.WordSize())
	*t.PC() = b.stub + uint64(b.Resume)
	t.finish()
}

// readFrame reads the words that a stub has on the stack of the thread.
func (t *thread) readFrame(b *bell) (words []uint64, ok bool) {
	n := b.Frame()
	raw := slices.Grow(t.stack.raw[:0], 8*n)[:8*n]
	t.stack.raw = raw
	if n > 0 && t.proc.space.Mem.ReadMemory(t.SP(), raw) != nil {
		return nil, false
	}
	frame := t.stack.frame[:0]
	for ; len(raw) > 0; raw = raw[8:] {
		frame = append(frame, binary.LittleEndian.Uint64(raw))
	}
	t.stack.frame = frame
	return frame, true
}
