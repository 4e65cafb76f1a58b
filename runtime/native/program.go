package native

import (
	"slices"

	"gotap/runtime/gate"
)

// Program is what one probe runs at a place.
type Program struct {
	Run   *Plan      // for hits that the predicate let pass and the gate admitted; nil: they are only counted
	When  *Plan      // the predicate; nil: all hits pass. A program that aborts rejects the hit
	Gate  *gate.Gate // the counters of the probe, in the arena; nil: every hit runs, and nothing is counted
	Probe uint32     // its number, which records contain
	Call  *Call      // the call that begins or ends at the place; nil: the probe does not follow it
}

// Call is what native code does about a call of a function.
type Call struct {
	Func  uint32 // the number of the function
	Ends  bool   // the call ends: Run is for those that were seen to begin
	This  int    // bytes of storage
	Timed bool   // it is recorded when the call begins
}

// Stub is machine code for one place. It is immutable.
type Stub struct {
	Code      []byte
	Tail      int    // offset of the tail, which is the displaced instructions and the jump back
	TailLen   int    // its size in bytes
	Doorbells []Bell // in the order of their offsets
	Reads     []Read // in the order of their offsets
	Records   bool   // it writes records into the ring
}

// DoorbellAt returns the doorbell whose breakpoint is at an offset, or nil.
func (s *Stub) DoorbellAt(offset int) *Bell {
	i, ok := slices.BinarySearchFunc(s.Doorbells, offset, func(d Bell, offset int) int { return d.Offset - offset })
	if !ok {
		return nil
	}
	return &s.Doorbells[i]
}

// Read is an instruction of a stub that reads the target's memory and may fault.
type Read struct {
	Test int // offset of the test of the control word before it
	At   int // offset of the instruction
	Bell int // offset of the doorbell that is to be answered instead, as if it had rung

	// Own is set if it reads the thread's own data, or the return address at the stack pointer or an argument above it:
	// the table of ranges need not have them.
	Own bool
	// Passes is set if there is no doorbell at the offset Bell. The thread goes on there, and nobody has to answer.
	Passes bool
}

// ReadAt returns the read whose instruction is at an offset, or nil.
func (s *Stub) ReadAt(offset int) *Read {
	i, ok := slices.BinarySearchFunc(s.Reads, offset, func(r Read, offset int) int { return r.At - offset })
	if !ok {
		return nil
	}
	return &s.Reads[i]
}

// ControlMask selects the bits of the control word that let programs run. While all of them are 0, only the tail runs.
// They are the bits of a robust futex that hold its owner: when the owner dies, the kernel clears them and sets
// FUTEX_OWNER_DIED, which is bit 30.
const ControlMask = 1<<30 - 1

// Admits returns nil if native code can decide which hits of a gate count, and otherwise a *Refused.
func Admits(g *gate.Gate) error {
	if g == nil {
		return nil
	}
	l := g.Limits()
	switch {
	case g.Offset() == 0:
		return &Refused{Reason: "the counters of the probe are not in the arena"}
	case l.Rate != 0:
		return &Refused{Reason: "the probe has a rate"}
	case l.Limit != 0:
		return &Refused{Reason: "the probe has a limit"}
	}
	return nil
}
