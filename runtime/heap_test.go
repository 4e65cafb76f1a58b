package runtime

import (
	"math/rand/v2"
	"testing"

	"gotap/runtime/outcome"
)

// TestHeap compares the heap with a map of slices, on random commands: what one block holds no other changes, what is
// given out lies within the limit, and nothing of an earlier hit is seen.
func TestHeap(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var h heap
	for range 300 {
		h.begin()
		limit := r.IntN(2000)
		blocks, freed := map[uint64][]byte{}, map[uint64]bool{}
		for range 200 {
			stepHeap(t, r, &h, limit, blocks, freed)
		}
	}
}

// stepHeap does one command on the heap and on the model of it.
func stepHeap(t *testing.T, r *rand.Rand, h *heap, limit int, blocks map[uint64][]byte, freed map[uint64]bool) {
	t.Helper()
	handle := uint64(r.IntN(int(h.last) + 2))
	mine, there := blocks[handle]
	switch r.IntN(4) {
	case 0:
		size := uint64(r.IntN(200))
		if got := h.alloc(size, limit); got != 0 {
			if blocks[got] != nil || freed[got] || h.high > limit {
				t.Fatalf("handle %d again, or %d bytes of %d", got, h.high, limit)
			}
			cell, _ := h.cell(got, 0, size)
			blocks[got] = append([]byte{}, cell...)
		} else if len(blocks) == 0 && size+heapUnit <= uint64(limit) {
			t.Fatalf("no room for %d of %d bytes in an empty heap", size, limit)
		}
	case 1:
		if h.free(handle) != there {
			t.Fatalf("freed %d: %v", handle, !there)
		}
		delete(blocks, handle)
		freed[handle] = there || freed[handle]
	default:
		offset, n := uint64(r.IntN(250)), uint64(1)<<r.IntN(4)
		cell, trap := h.cell(handle, offset, n)
		switch {
		case !there && trap != outcome.TrapHandle, there && (trap == outcome.NoTrap) != (offset+n <= uint64(len(mine))):
			t.Fatalf("%d bytes at %d of block %d of %d: %v", n, offset, handle, len(mine), trap)
		case trap == outcome.NoTrap:
			if string(cell) != string(mine[offset:offset+n]) {
				t.Fatalf("block %d at %d: %x, not %x", handle, offset, cell, mine[offset:offset+n])
			}
			cell[0] = byte(r.Uint32())
			mine[offset] = cell[0]
		}
	}
}

// A hit sees zeros where an earlier one had numbers.
func TestHeapIsFresh(t *testing.T) {
	var h heap
	for range 2 {
		h.begin()
		cell, _ := h.cell(h.alloc(64, 64), 0, 64)
		for i := range cell {
			if cell[i] != 0 {
				t.Fatalf("byte %d is %d", i, cell[i])
			}
			cell[i] = 7
		}
	}
}

// There are 64 blocks at a time, also of no bytes.
func TestHeapBlocks(t *testing.T) {
	var h heap
	h.begin()
	for i := range MaxBlocks {
		if h.alloc(0, MaxHeap) == 0 {
			t.Fatalf("block %d", i)
		}
	}
	if h.alloc(0, MaxHeap) != 0 || !h.free(7) || h.alloc(1, MaxHeap) == 0 {
		t.Error("blocks are counted wrongly")
	}
	if _, trap := h.cell(1, 0, 1); trap != outcome.TrapOffset {
		t.Errorf("%v", trap)
	}
}
