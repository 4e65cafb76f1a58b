package stepping

import (
	"encoding/binary"

	"gotap/engine/linux/ptrace"
)

// Restartable sequences (rseq(2)). A program declares a range of instructions that has to run without interruption,
// and the kernel sends the thread to the sequence's abort handler if it was preempted, migrated or signalled
// inside. Our stop has the same effect: the instructions behind a breakpoint in a sequence are never reached, and a
// program that retries until it succeeds retries forever. The same applies to the instruction that leads into a
// sequence, because it is completed in a stop. The location of a sequence is known only while a thread is in it,
// because the thread's rseq area then points at its description. So it is checked at the first hits of a point, and
// then at exponentially growing intervals; a breakpoint found in the way of a sequence is removed for good. The hit
// that finds it aborts the sequence once, as any interrupt does.

// inSequence reports whether the thread's registers are inside a restartable sequence.
func (x *Thread) inSequence() bool {
	area, e := ptrace.RseqArea(x.Tid)
	if e != 0 || area == 0 {
		return false
	}
	const pointerAt = 8 // offset of rseq_cs in struct rseq
	le := binary.LittleEndian
	var pointer [8]byte
	var sequence [32]byte // struct rseq_cs
	mem := x.parts.View.Space.Mem
	if mem.ReadMemory(area+pointerAt, pointer[:]) != nil || pointer == [8]byte{} {
		return false
	}
	at := le.Uint64(pointer[:])
	if !mem.FaultIn(at, len(sequence)) || mem.ReadMemory(at, sequence[:]) != nil {
		return false
	}
	return *x.PC()-le.Uint64(sequence[8:]) < le.Uint64(sequence[16:])
}

// ledIntoSequence removes the breakpoint of the instruction that has just been completed, if it leads into a
// sequence.
func (x *Thread) ledIntoSequence() {
	if x.seqDue = false; x.parts.View.At != nil && x.inSequence() {
		x.parts.Patcher.Bar(x.parts.View.At, x.Of.Pid())
	}
}
