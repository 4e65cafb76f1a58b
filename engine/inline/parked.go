package inline

import (
	"encoding/binary"
	"slices"

	"gotap/engine/image/module"
)

// Threads that would continue in the middle of bytes that change.
//
// A thread stands there itself, or a signal has interrupted it there and it runs the handler now. In the second case
// the address is on the stack that the handler uses, in the frame that the kernel has made: Parked looks for it there.
// It takes any word that looks like such an address for one, so it may find too much.
//
// It does not find a frame on another stack than the thread's present one: that of a handler on an alternate stack
// which was interrupted in a handler on the thread's own stack, or a context that a handler has left by swapcontext.
// Both need a thread that was interrupted exactly there.

// Stacks with more bytes in use than scanLimit are not read to their end.
const scanLimit = 1 << 20

// Range is addresses, from Start on and below End.
type Range struct{ Start, End uint64 }

// Ranges are ranges that do not overlap, sorted.
type Ranges []Range

// find returns the index of the range with an address, or -1.
func (all Ranges) find(addr uint64) int {
	i, found := slices.BinarySearchFunc(all, addr, func(r Range, addr uint64) int {
		switch {
		case addr < r.Start:
			return 1
		case addr >= r.End:
			return -1
		}
		return 0
	})
	if !found {
		return -1
	}
	return i
}

// Parked calls found with each range in which a thread stands whose program counter and stack pointer are given, or to
// which a handler that it runs may return. complete is false if its stack could not be read.
func (all Ranges) Parked(mem Memory, maps []module.Mapping, pc, sp uint64, found func(Range)) (complete bool) {
	if i := all.find(pc); i >= 0 {
		found(all[i])
	}
	const word = 8
	at := sp &^ (word - 1)
	m := mappingOf(maps, at)
	if m == nil {
		return false
	}
	stack := make([]byte, min(m.End-at, scanLimit))
	if mem.Peek(at, stack) != nil {
		return false
	}
	for ; len(stack) >= word; stack = stack[word:] {
		if i := all.find(binary.LittleEndian.Uint64(stack)); i >= 0 {
			found(all[i])
		}
	}
	return true
}

// mappingOf returns the mapping that contains an address, or nil.
func mappingOf(maps []module.Mapping, addr uint64) *module.Mapping {
	for i := range maps {
		if addr >= maps[i].Start && addr < maps[i].End {
			return &maps[i]
		}
	}
	return nil
}
