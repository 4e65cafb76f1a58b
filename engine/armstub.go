package engine

import (
	"errors"

	"gotap/engine/fallback"
	"gotap/engine/image/module"
	"gotap/engine/linux/ptrace"
)

// Making a target call the kernel for the engine's own purposes, on ARM. As on x86 (inject.go), the thread runs
// through code that makes the call and returns by itself, so that nobody has to restore its registers if the tracer
// is killed meanwhile: see fallback.ReturnCode. That code and the frame with which it returns lie in the fallback's
// region. Before that exists, they lie in the padding behind a module's code, or the frame lies far below the stack
// pointer, if the stack is the one that the kernel made: the stacks of Go's goroutines are small, and other data
// lies below them.
//
// A thread of a process without such room is sent to a system call instruction of its own program. If the tracer is
// killed at that moment, the thread stays there.

// callElsewhere makes a stopped thread call the kernel. Its registers are restored from t.regs.
//
// All signals are blocked meanwhile, so that none arrives while the thread's registers are not its own. If a signal
// is due at the end of the call, the kernel decides about restarting by the result register. If the program's own
// value in that register happened to be one of the four restart codes at that moment, the kernel would move the
// program counter; since signals are blocked, only a stop that we request ourselves can be due.
func (j *injection) callElsewhere(number uint64, args ...uint64) (uint64, error) {
	if j.t.midCall {
		return 0, errMidCall
	}
	defer j.t.emu.keepScalable()()
	room, err := j.returnRoom()
	if err != nil {
		return j.callAtGadget(number, args)
	}
	defer room.clear()
	var mask uint64
	if e := ptrace.GetSigMask(j.t.tid, &mask); e != 0 {
		return 0, e
	}
	own := mask
	if j.t.queue.masked {
		own = j.t.queue.mask // the thread's own mask, due when signals are no longer kept
	}
	if err := j.fillRoom(room, own); err != nil {
		return j.callAtGadget(number, args)
	}
	home := j.t.regs
	j.loadCall(number, args)
	j.t.regs[fallback.FrameRegister(j.t.proc.arch.WordSize())] = room.frame
	j.t.unreported() // leaves nothing of this stop behind
	j.t.emu.jumpTo(room.code)
	return j.callAndReturn(home, ^uint64(0), mask)
}

// loadCall loads the registers for a system call.
func (j *injection) loadCall(number uint64, args []uint64) {
	calls := &j.t.proc.arch.Calls
	for i, a := range args {
		j.t.regs[calls.Args[i]] = a
	}
	j.t.regs[calls.Number] = number
}

// callAtGadget makes a thread call the kernel with an instruction of its own program.
func (j *injection) callAtGadget(number uint64, args []uint64) (uint64, error) {
	g, ok := j.t.exec.findGadget()
	if !ok {
		return 0, errNoGadget
	}
	saved := j.t.regs
	var mask uint64
	if e := ptrace.GetSigMask(j.t.tid, &mask); e != 0 {
		return 0, e
	}
	all := ^uint64(synchronous)
	if e := ptrace.SetSigMask(j.t.tid, &all); e != 0 {
		return 0, e
	}
	j.loadCall(number, args)
	j.t.unreported()
	j.t.emu.jumpTo(g.at | map[bool]uint64{true: 1}[g.thumb])
	j.t.setRegs()
	result, err := j.throughCall()
	j.t.regs = saved
	j.t.setRegs()
	ptrace.SetSigMask(j.t.tid, &mask)
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
func (j *injection) returnRoom() (returnRoom, error) {
	sp := j.t.proc.space
	if base := sp.guard.base; base != 0 {
		return returnRoom{base + fallback.StubAt, base + fallback.FrameAt, func() {}}, nil
	}
	maps, err := module.Maps(j.t.tid)
	if err != nil {
		return returnRoom{}, err
	}
	if at, ok := sp.padding(maps, frameRoomSize); ok {
		return returnRoom{at, at + frameRoomSize - fallback.FrameSize, func() { sp.mem.Poke(at, make([]byte, frameRoomSize), j.t.tid) }}, nil
	}
	at, ok := sp.padding(maps, returnCodeSize)
	frame, deep := j.belowStack(maps)
	if !ok || !deep {
		return returnRoom{}, errNoRoom
	}
	return returnRoom{at, frame, func() { sp.mem.Poke(at, make([]byte, returnCodeSize), j.t.tid) }}, nil
}

// belowStack returns room far below the stack pointer, if the stack is the one that the kernel made for the
// process.
func (j *injection) belowStack(maps []module.Mapping) (at uint64, ok bool) {
	at = (j.t.sp() - stackGap - fallback.FrameSize) &^ 15
	for _, m := range maps {
		if m.Path == "[stack]" && m.Start <= at && j.t.sp() <= m.End {
			return at, true
		}
	}
	return 0, false
}

// fillRoom writes the code, and the frame that restores the thread's registers.
func (j *injection) fillRoom(room returnRoom, mask uint64) error {
	word := j.t.proc.arch.WordSize()
	var float ptrace.FPRegs // t.fp may be from an earlier stop
	if _, e := ptrace.GetFPRegs(j.t.tid, &float, word); e != 0 {
		return errNoRoom
	}
	mem := j.t.proc.space.mem
	if err := mem.Poke(room.frame, fallback.Frame(&j.t.regs, float[:], mask, word), j.t.tid); err != nil {
		return err
	}
	return mem.Poke(room.code, fallback.ReturnCode(word), j.t.tid)
}
