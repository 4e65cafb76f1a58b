package engine

import (
	"encoding/binary"
	"fmt"

	"gotap/engine/linux/ptrace"
)

// Restartable sequences (rseq(2)). A program names a range of instructions that has to run without interruption, and the kernel
// sends the thread to the sequence's abort handler when it was preempted, migrated or signalled there. A stop of ours is all of
// these: the instructions behind a breakpoint in a sequence are never reached, and a program that tries until it succeeds tries for
// ever. The same goes for the instruction that leads into a sequence, because it is completed in a stop. Where sequences are is
// known only while a thread is in one, when its rseq area points at the description. So it is looked at the first hits of a point,
// and then more and more seldom; a breakpoint found in the way of a sequence is taken out for good. The hit that finds it aborts
// the sequence once, as any interrupt does.

// looksForSequence reports whether this hit of a point is one of those at which sequences are looked for.
func (p *point) looksForSequence() bool {
	p.hits++
	return p.hits&(p.hits-1) == 0
}

// inSequence reports whether the thread, as its registers are, is in a restartable sequence.
func (t *thread) inSequence() bool {
	area, e := ptrace.RseqArea(t.tid)
	if e != 0 || area == 0 {
		return false
	}
	const pointerAt = 8 // of rseq_cs in struct rseq
	le := binary.LittleEndian
	var pointer [8]byte
	var sequence [32]byte // struct rseq_cs
	mem := t.proc.space.mem
	if mem.ReadMemory(area+pointerAt, pointer[:]) != nil || pointer == [8]byte{} {
		return false
	}
	if mem.ReadMemory(le.Uint64(pointer[:]), sequence[:]) != nil {
		return false
	}
	return *t.pc()-le.Uint64(sequence[8:]) < le.Uint64(sequence[16:])
}

// ledIntoSequence takes out the breakpoint of an instruction that has just been completed and that leads into a sequence.
func (t *thread) ledIntoSequence() {
	if t.seqDue = false; t.at != nil && t.inSequence() {
		t.s.bar(t.at, t.proc.pid)
	}
}

// bar takes a breakpoint out that must not be there, for good.
func (s *Session) bar(p *point, pid int) {
	p.barred = true
	reason := fmt.Sprintf("%#x: it is in the way of a restartable sequence, which would never come to its end", p.addr)
	for _, pl := range p.Enters {
		pl.Probe.Miss()
		pl.Probe.Refuse(reason)
	}
	s.warn(fmt.Sprintf("process %d: the probe is taken out of %s", pid, reason))
	if err := s.sync(p); err != nil {
		s.warn(err.Error())
	}
}
