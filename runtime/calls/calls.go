package calls

import (
	"encoding/binary"
	"errors"
	"math"
	"sync/atomic"

	"gotap/runtime/arena"
)

// Layout of a Stack in the arena, in bytes from its start. All words are little-endian.
//
//	StateAt   where the newest frame is: see the state
//	TidAt     the number of the thread
//	CommAt    the name of the thread, as records have it
//	LowestAt  the lowest stack pointer at the entry of the calls of the thread that the host follows, or None. If there
//	          are any, a return without a frame is for the host, and so is a call that begins there or further out:
//	          it shows that some have been left without a return
//	framesAt  frames, one after the other
//
// The state is one word, so that one instruction replaces it. Its lowest 16 bits are the end of the newest frame, the
// next 16 its start (0: there is none), both in words from the start of the stack. The upper 32 bits count frames that
// were pushed: a thread that finds a state unchanged knows that no signal handler has pushed a frame meanwhile.
const (
	StateAt   = 0
	TidAt     = 8
	LowestAt  = 16
	CommAt    = 24 // CommSize bytes
	CommSize  = 16
	framesAt  = 64
	StackSize = 32 << 10
)

// A thread's block is its stack and, behind that, its share of what is counted (package arena).
const (
	BlockSize  = 128 << 10
	ShareAt    = StackSize // in the block
	sharedSize = 28 << 10  // of words without keys
	keyedSize  = BlockSize - ShareAt - sharedSize
)

// Layout of a frame, in bytes from its start.
const (
	SPAt     = 0  // the stack pointer at the entry of the call
	BeforeAt = 8  // the low half of the state before the frame was pushed (32 bits)
	FuncAt   = 12 // the number of the followed function (32 bits)
	TimeAt   = 16 // when the call began, in nanoseconds, 0 unless that is wanted; the lowest bit is Busy
	ThisAt   = 24 // the storage of the call
)

// None is what stands for the lowest stack pointer of calls where there are none.
const None = math.MaxUint64

// Busy is set in a frame while native code runs a program of its call. The frame may then not be removed.
const Busy = 1

// empty is the state of a stack without frames; its count does not matter.
const empty = framesAt / 8

// reach is how far behind the start of a stack the words of a state, if they are garbage, make native code read.
const reach = 8<<16 + ThisAt + arena.MaxThisBytes

// MaxThreads is the number of threads that have a stack at the same time, in all processes of a session.
const MaxThreads = 256

// FrameSize returns the size in bytes of a frame with the given number of bytes of storage.
func FrameSize(this int) int { return ThisAt + (this+7)&^7 }

// LastStart is the greatest start of a frame of the given size, in words from the start of the stack.
func LastStart(size int) int { return (StackSize - size) / 8 }

// Stacks are the blocks of a session's threads.
type Stacks struct {
	arena *arena.Arena
	off   uint64
	words []uint64
	free  []int
}

var errNoMemory = errors.New("the arena is full")

// New allocates blocks in an arena, and opens the shares in them.
func New(a *arena.Arena) (*Stacks, error) {
	off, words, ok := a.Reserve(MaxThreads*BlockSize + reach)
	if !ok {
		return nil, errNoMemory
	}
	a.OpenShares(off+ShareAt, BlockSize, sharedSize, keyedSize)
	s := &Stacks{arena: a, off: off, words: words}
	for i := range MaxThreads {
		s.free = append(s.free, MaxThreads-1-i)
	}
	return s, nil
}

// Offset returns where the blocks lie in the arena, in bytes: that of number i is at i*BlockSize.
func (s *Stacks) Offset() uint64 { return s.off }

// Take returns an empty stack for a thread; nil if there is none left.
func (s *Stacks) Take(tid int) *Stack {
	if len(s.free) == 0 {
		return nil
	}
	n := s.free[len(s.free)-1]
	s.free = s.free[:len(s.free)-1]
	s.arena.UseShare(n)
	k := &Stack{number: n, off: s.off + uint64(n)*BlockSize, words: s.words[n*BlockSize/8:][:StackSize/8]}
	atomic.StoreUint64(&k.words[StateAt/8], empty)
	atomic.StoreUint64(&k.words[TidAt/8], uint64(tid))
	k.SetLowest(None)
	return k
}

// Free returns how many stacks nobody has.
func (s *Stacks) Free() int { return len(s.free) }

// Give takes back the stack of a thread that has ended.
func (s *Stacks) Give(k *Stack) { s.free = append(s.free, k.number) }

// Stack holds the calls in progress of one thread that native code follows.
type Stack struct {
	number int
	off    uint64 // in the arena
	words  []uint64
}

// Frame is a call in progress.
type Frame struct {
	SP   uint64 // the stack pointer at its entry
	Func uint32
	Time uint64 // when it began; 0: unknown
	Busy bool   // native code runs a program of the call, or did when it was left by a signal handler that did not return
	This uint64 // where its storage lies in the arena, in bytes; its size is what the function's frames have

	start int // in the stack, in words
}

// SetComm stores the name of the thread.
func (k *Stack) SetComm(name [CommSize]byte) {
	for i := 0; i < CommSize; i += 8 {
		atomic.StoreUint64(&k.words[(CommAt+i)/8], binary.LittleEndian.Uint64(name[i:]))
	}
}

// SetLowest tells native code the lowest stack pointer at the entry of a call that the host follows, or None.
func (k *Stack) SetLowest(lowest uint64) {
	atomic.StoreUint64(&k.words[LowestAt/8], lowest)
}

// Newest returns the newest frame.
func (k *Stack) Newest() (Frame, bool) {
	return k.frame(int(uint16(atomic.LoadUint64(&k.words[StateAt/8]) >> 16)))
}

// Older returns the frame that was pushed before another one.
func (k *Stack) Older(f Frame) (Frame, bool) {
	start := int(uint16(atomic.LoadUint64(&k.words[f.start+BeforeAt/8]) >> 16))
	if start >= f.start {
		return Frame{}, false
	}
	return k.frame(start)
}

// frame reads the frame that starts at a word of the stack.
func (k *Stack) frame(start int) (Frame, bool) {
	if start < framesAt/8 || start > LastStart(ThisAt) {
		return Frame{}, false
	}
	w := k.words[start:]
	time := atomic.LoadUint64(&w[TimeAt/8])
	return Frame{
		SP: atomic.LoadUint64(&w[SPAt/8]), Func: uint32(atomic.LoadUint64(&w[BeforeAt/8]) >> 32), Time: time &^ Busy, Busy: time&Busy != 0,
		This: k.off + uint64(start)*8 + ThisAt, start: start}, true
}

// FrameAt returns the frame whose storage lies at an offset in the arena.
func (k *Stack) FrameAt(this uint64) (Frame, bool) {
	start := int64(this-ThisAt-k.off) / 8
	if this%8 != 0 || start < 0 || start > StackSize/8 {
		return Frame{}, false
	}
	return k.frame(int(start))
}

// Finish tells that no program of a call runs any more.
func (k *Stack) Finish(f Frame) {
	time := &k.words[f.start+TimeAt/8]
	atomic.StoreUint64(time, atomic.LoadUint64(time)&^Busy)
}

// noCall is the stack pointer of a frame that was removed but is not the newest: no call has it. Native code takes the
// frame for one of a call further out.
const noCall = ^uint64(0)

// Remove removes a frame. If it is not the newest one its memory is used again when those behind it are gone.
func (k *Stack) Remove(f Frame) {
	atomic.StoreUint64(&k.words[f.start+SPAt/8], noCall)
	atomic.StoreUint64(&k.words[f.start+BeforeAt/8], atomic.LoadUint64(&k.words[f.start+BeforeAt/8])&(1<<32-1))
	for {
		last, ok := k.Newest()
		if !ok || last.SP != noCall {
			return
		}
		state := &k.words[StateAt/8]
		before := atomic.LoadUint64(&k.words[last.start+BeforeAt/8]) & (1<<32 - 1)
		if int(uint16(before)) > last.start || int(before>>16) >= last.start { // somebody has written there
			before = empty
		}
		atomic.StoreUint64(state, atomic.LoadUint64(state)&^(1<<32-1)|before)
	}
}

// IsFull reports whether there may be no room for another frame, of the largest size.
func (k *Stack) IsFull() bool {
	return int(uint16(atomic.LoadUint64(&k.words[StateAt/8]))) > LastStart(FrameSize(arena.MaxThisBytes))
}

// Clear removes all frames.
func (k *Stack) Clear() {
	state := &k.words[StateAt/8]
	atomic.StoreUint64(state, atomic.LoadUint64(state)&^(1<<32-1)|empty)
}
