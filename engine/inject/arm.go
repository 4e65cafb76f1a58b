package inject

import (
	"bytes"
	"errors"

	"gotap/arch"
	"gotap/engine/crashsafe/fallback"
	"gotap/engine/image/module"
	"gotap/engine/linux/ptrace"
	"gotap/engine/tracee"
)

// Making a target call the kernel for the engine's own purposes, on ARM. As on x86, the thread runs
// through code that makes the call and returns by itself, so that nobody has to restore its registers if the tracer
// is killed meanwhile: see fallback.ReturnCode. That code and the frame with which it returns lie in the fallback's
// region. Before that exists, they lie in the padding behind a module's code, or the frame lies far below the stack
// pointer, if the stack is the one that the kernel made: the stacks of Go's goroutines are small, and other data
// lies below them.
//
// A thread of a process without such room is sent to a system call instruction of its own program. If the tracer is
// killed at that moment, the thread stays there.

// callElsewhere makes a stopped thread call the kernel. Its registers are restored from t.Regs.
//
// All signals are blocked meanwhile, so that none arrives while the thread's registers are not its own. If a signal
// is due at the end of the call, the kernel decides about restarting by the result register. If the program's own
// value in that register happened to be one of the four restart codes at that moment, the kernel would move the
// program counter; since signals are blocked, only a stop that we request ourselves can be due.
func (j *Caller) callElsewhere(number uint64, args ...uint64) (uint64, error) {
	if err := j.ready(); err != nil {
		return 0, err
	}
	defer j.t.KeepScalable()()
	room, err := j.returnRoom()
	if err != nil {
		return j.callAtGadget(number, args)
	}
	defer room.clear()
	var mask uint64
	if e := ptrace.GetSigMask(j.t.Tid, &mask); e != 0 {
		return 0, e
	}
	own := mask
	if kept, differs := j.on.OwnMask(); differs {
		own = kept // due when signals are no longer kept
	}
	if err := j.fillRoom(room, own); err != nil {
		return j.callAtGadget(number, args)
	}
	home := j.t.Regs
	j.loadCall(number, args)
	j.t.Regs[fallback.FrameRegister(j.t.ABI().WordSize())] = room.frame
	j.t.Consume() // leaves nothing of this stop behind
	j.t.JumpTo(room.code)
	return j.callAndReturn(home, ^uint64(0), mask, tracee.InCall)
}

// toMaskCallElsewhere is toMaskCall on ARM. The call of ReturnCode blocks all signals, and rt_sigreturn then sets the
// mask: behind the call the stack pointer is the frame's address, where no handler can write its own frame. The call
// leaves of scalable registers no more than rt_sigreturn does (the kernel's Documentation/arch/arm64/sve.rst), and the
// program is at a system call.
func (j *Caller) toMaskCallElsewhere(mask uint64, home arch.Regs) error {
	room, err := j.returnRoom()
	if err != nil {
		return err
	}
	defer room.clear()
	const setMask, setBytes = 2, 8
	all := room.frame + fallback.FrameSize // the set of all signals
	if err := j.t.Memory().Poke(all, bytes.Repeat([]byte{0xff}, setBytes), j.t.Tid); err != nil {
		return err
	}
	j.t.Regs = home
	if err := j.fillRoom(room, mask); err != nil {
		return err
	}
	j.loadCall(j.t.ABI().Calls.Procmask, []uint64{setMask, all, 0, setBytes})
	j.t.Regs[fallback.FrameRegister(j.t.ABI().WordSize())] = room.frame
	j.t.JumpTo(room.code)
	return nil
}

// loadCall loads the registers for a system call.
func (j *Caller) loadCall(number uint64, args []uint64) {
	calls := &j.t.ABI().Calls
	for i, a := range args {
		j.t.Regs[calls.Args[i]] = a
	}
	j.t.Regs[calls.Number] = number
}

// callAtGadget makes a thread call the kernel with an instruction of its own program.
func (j *Caller) callAtGadget(number uint64, args []uint64) (uint64, error) {
	g, ok := j.FindGadget()
	if !ok {
		return 0, errNoGadget
	}
	saved := j.t.Regs
	var mask uint64
	if e := ptrace.GetSigMask(j.t.Tid, &mask); e != 0 {
		return 0, e
	}
	all := ^uint64(ptrace.Synchronous)
	if e := ptrace.SetSigMask(j.t.Tid, &all); e != 0 {
		return 0, e
	}
	j.loadCall(number, args)
	j.t.Consume()
	j.t.JumpTo(g.At | map[bool]uint64{true: 1}[g.Thumb])
	j.t.SetRegs()
	result, err := j.throughCall(tracee.InCall)
	j.t.Regs = saved
	j.t.SetRegs()
	ptrace.SetSigMask(j.t.Tid, &mask)
	return result, err
}

var errNoGadget = errors.New("the process has no instruction that calls the kernel")

// returnRoom holds the addresses of the code and the frame of a call.
type returnRoom struct {
	code, frame uint64
	clear       func() // must be called when they are no longer needed
}

// Sizes of the room needed, in bytes.
const (
	returnCodeSize = 16
	// frameRoomSize is the size of the code with a frame behind it.
	frameRoomSize = fallback.FrameAt - fallback.StubAt + fallback.FrameSize
	// stackGap is how far below the stack pointer a frame lies: far enough that a signal that arrives before all
	// are blocked does not overwrite it.
	stackGap = 32 << 10
)

// returnRoom finds room for a call.
func (j *Caller) returnRoom() (returnRoom, error) {
	r := j.t.Of.Region()
	if base := r.Base; base != 0 {
		return returnRoom{base + fallback.StubAt, base + fallback.FrameAt, func() {}}, nil
	}
	maps, err := module.Maps(j.t.Tid)
	if err != nil {
		return returnRoom{}, err
	}
	if at, ok := padding(j.t.Memory(), maps, frameRoomSize); ok {
		return returnRoom{at, at + frameRoomSize - fallback.FrameSize, func() { j.t.Memory().Poke(at, make([]byte, frameRoomSize), j.t.Tid) }}, nil
	}
	at, ok := padding(j.t.Memory(), maps, returnCodeSize)
	frame, deep := j.belowStack(maps)
	if !ok || !deep {
		return returnRoom{}, errNoRoom
	}
	return returnRoom{at, frame, func() { j.t.Memory().Poke(at, make([]byte, returnCodeSize), j.t.Tid) }}, nil
}

// belowStack returns room far below the stack pointer, if the stack is the one that the kernel made for the
// process.
func (j *Caller) belowStack(maps []module.Mapping) (at uint64, ok bool) {
	at = (j.t.SP() - stackGap - fallback.FrameSize) &^ 15
	for _, m := range maps {
		if m.Path == "[stack]" && m.Start <= at && j.t.SP() <= m.End {
			return at, true
		}
	}
	return 0, false
}

// fillRoom writes the code, and the frame that restores the thread's registers.
func (j *Caller) fillRoom(room returnRoom, mask uint64) error {
	word := j.t.ABI().WordSize()
	var float ptrace.FPRegs // t.fp may be from an earlier stop
	if _, e := ptrace.GetFPRegs(j.t.Tid, &float, word); e != 0 {
		return errNoRoom
	}
	mem := j.t.Memory()
	if err := mem.Poke(room.frame, fallback.Frame(&j.t.Regs, float[:], mask, word), j.t.Tid); err != nil {
		return err
	}
	return mem.Poke(room.code, fallback.ReturnCode(word), j.t.Tid)
}
