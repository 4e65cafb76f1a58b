package engine

import (
	"errors"

	"gotap/engine/fallback"
	"gotap/engine/image/module"
	"gotap/engine/linux/ptrace"
)

// Making a target call the kernel for the engine's own purposes, on ARM. As on x86 (inject.go) the thread is sent through code that
// makes the call and leads home by itself, so that nobody has to put its registers back if the tracer is killed meanwhile: see
// fallback.ReturnCode. That code and the frame which it returns by lie in the fallback's region; before there is one, in padding
// behind a module's code, or the frame far below the stack pointer, on a stack that is the kernel's: those of Go's goroutines are
// small, and other things lie there.
//
// A process with no such room is sent to an instruction of its own that calls the kernel. One that is killed at that moment
// leaves the thread there.

// callElsewhere makes a stopped thread call the kernel. Its registers are put back as t.regs has them.
//
// All signals are blocked meanwhile, so that none finds the thread with registers that are not its own. The kernel decides about
// restarting by the result register when a signal is due at the end of the call. A program whose own value in it happens to be one
// of the four codes, at that moment, would have its program counter moved; the blocked signals leave nothing to be due but a stop
// that we ask for ourselves.
func (t *thread) callElsewhere(number uint64, args ...uint64) (uint64, error) {
	if t.midCall {
		return 0, errMidCall
	}
	defer t.keepScalable()()
	room, err := t.returnRoom()
	if err != nil {
		return t.callAtGadget(number, args)
	}
	defer room.clear()
	var mask uint64
	if e := ptrace.GetSigMask(t.tid, &mask); e != 0 {
		return 0, e
	}
	own := mask
	if t.masked {
		own = t.mask // what the thread is to have when nobody keeps signals from it any more
	}
	if err := t.fillRoom(room, own); err != nil {
		return t.callAtGadget(number, args)
	}
	home := t.regs
	t.loadCall(number, args)
	t.regs[fallback.FrameRegister(t.proc.arch.WordSize())] = room.frame
	t.unreported() // nothing of this stop is left behind
	t.jumpTo(room.code)
	return t.callAndReturn(home, ^uint64(0), mask)
}

// loadCall loads the registers that a system call is asked for with.
func (t *thread) loadCall(number uint64, args []uint64) {
	calls := &t.proc.arch.Calls
	for i, a := range args {
		t.regs[calls.Args[i]] = a
	}
	t.regs[calls.Number] = number
}

// callAtGadget makes a thread call the kernel by an instruction of its own program.
func (t *thread) callAtGadget(number uint64, args []uint64) (uint64, error) {
	g, ok := t.findGadget()
	if !ok {
		return 0, errNoGadget
	}
	saved := t.regs
	var mask uint64
	if e := ptrace.GetSigMask(t.tid, &mask); e != 0 {
		return 0, e
	}
	all := ^uint64(synchronous)
	if e := ptrace.SetSigMask(t.tid, &all); e != 0 {
		return 0, e
	}
	t.loadCall(number, args)
	t.unreported()
	t.jumpTo(g.at | map[bool]uint64{true: 1}[g.thumb])
	t.setRegs()
	result, err := t.throughCall()
	t.regs = saved
	t.setRegs()
	ptrace.SetSigMask(t.tid, &mask)
	return result, err
}

var errNoGadget = errors.New("the process has no instruction that calls the kernel")

// returnRoom is where the code and the frame of a call are.
type returnRoom struct {
	code, frame uint64
	clear       func() // to be called when they are not needed any more
}

// Sizes, in bytes, of what is looked for.
const (
	returnCodeSize = 16
	// frameRoomSize is that of the code with a frame behind it.
	frameRoomSize = fallback.FrameAt - fallback.StubAt + fallback.FrameSize
	// stackGap is how far below the stack pointer a frame lies: a signal that comes before all are blocked leaves it alone.
	stackGap = 32 << 10
)

// returnRoom finds room for a call.
func (t *thread) returnRoom() (returnRoom, error) {
	sp := t.proc.space
	if base := sp.guard.base; base != 0 {
		return returnRoom{base + fallback.StubAt, base + fallback.FrameAt, func() {}}, nil
	}
	maps, err := module.Maps(t.tid)
	if err != nil {
		return returnRoom{}, err
	}
	if at, ok := sp.padding(maps, frameRoomSize); ok {
		return returnRoom{at, at + frameRoomSize - fallback.FrameSize, func() { sp.mem.Poke(at, make([]byte, frameRoomSize), t.tid) }}, nil
	}
	at, ok := sp.padding(maps, returnCodeSize)
	frame, deep := t.belowStack(maps)
	if !ok || !deep {
		return returnRoom{}, errNoRoom
	}
	return returnRoom{at, frame, func() { sp.mem.Poke(at, make([]byte, returnCodeSize), t.tid) }}, nil
}

// belowStack is room far below the stack pointer, if the stack is that which the kernel made for the process.
func (t *thread) belowStack(maps []module.Mapping) (at uint64, ok bool) {
	at = (t.sp() - stackGap - fallback.FrameSize) &^ 15
	for _, m := range maps {
		if m.Path == "[stack]" && m.Start <= at && t.sp() <= m.End {
			return at, true
		}
	}
	return 0, false
}

// fillRoom writes the code, and the frame that leads back to the thread's registers.
func (t *thread) fillRoom(room returnRoom, mask uint64) error {
	word := t.proc.arch.WordSize()
	var float ptrace.FPRegs // t.fp may be of an earlier stop
	if _, e := ptrace.GetFPRegs(t.tid, &float, word); e != 0 {
		return errNoRoom
	}
	mem := t.proc.space.mem
	if err := mem.Poke(room.frame, fallback.Frame(&t.regs, float[:], mask, word), t.tid); err != nil {
		return err
	}
	return mem.Poke(room.code, fallback.ReturnCode(word), t.tid)
}
