package runtime

import (
	"encoding/binary"

	"gotap/runtime/opcode"
	"gotap/runtime/outcome"
)

// The heap of a hit consists of blocks of bytes that a program allocates. Handles name the blocks, and the program
// loses them when it ends. The heap comes from DProbes: it is memory for tables that are too long for the stack and
// that no other hit may see. It is part of the machine, so a hit allocates nothing, and its size is known before the
// hit. The number of blocks bounds the work of a command.
const (
	MaxHeap   = 16 << 10 // bytes a program may have
	MaxBlocks = 64       // maximum number of blocks at a time
	heapUnit  = 8        // the size of a block is a multiple of this, and at least this
)

// heap is the memory of one hit. Handles count from 1 and are not reused within a hit, so the use of a freed handle is
// detected.
type heap struct {
	bytes  [MaxHeap]byte
	blocks [MaxBlocks]Block // the first n are valid, ordered by position
	n      int
	last   uint64 // the most recently returned handle
	high   int    // end of the memory allocated in this hit; behind it is data of earlier hits
}

// Block is a piece of the heap: Size bytes starting at At, which is a multiple of 8.
type Block struct {
	Handle   uint64
	At, Size int
}

// takes returns the number of bytes that the block occupies.
func (b *Block) takes() int { return max(heapUnit, (b.Size+heapUnit-1)&^(heapUnit-1)) }

// begin discards the blocks of an earlier hit.
func (h *heap) begin() { h.n, h.last, h.high = 0, 0, 0 }

// alloc allocates a block at the first free place in the first limit bytes. It returns 0 if there is none. The bytes of
// the block are 0 or left over from a block freed in this hit.
func (h *heap) alloc(size uint64, limit int) (handle uint64) {
	if size > uint64(limit) || h.n == MaxBlocks {
		return 0
	}
	b := Block{Size: int(size)}
	i := 0
	for ; i < h.n && h.blocks[i].At-b.At < b.takes(); i++ {
		b.At = h.blocks[i].At + h.blocks[i].takes()
	}
	if b.At+b.takes() > limit {
		return 0
	}
	if end := b.At + b.takes(); end > h.high {
		clear(h.bytes[h.high:end])
		h.high = end
	}
	copy(h.blocks[i+1:h.n+1], h.blocks[i:h.n])
	h.last++
	b.Handle = h.last
	h.blocks[i] = b
	h.n++
	return h.last
}

// find returns the index of the block that a handle names, or -1.
func (h *heap) find(handle uint64) int {
	for i := range h.blocks[:h.n] {
		if h.blocks[i].Handle == handle {
			return i
		}
	}
	return -1
}

// free frees a block and reports whether it existed.
func (h *heap) free(handle uint64) bool {
	i := h.find(handle)
	if i < 0 {
		return false
	}
	copy(h.blocks[i:], h.blocks[i+1:h.n])
	h.n--
	return true
}

// cell returns n bytes within a block.
func (h *heap) cell(handle, offset, n uint64) ([]byte, outcome.Trap) {
	i := h.find(handle)
	if i < 0 {
		return nil, outcome.TrapHandle
	}
	b := &h.blocks[i]
	if n > uint64(b.Size) || offset > uint64(b.Size)-n {
		return nil, outcome.TrapOffset
	}
	at := b.At + int(offset)
	return h.bytes[at : at+int(n)], outcome.NoTrap
}

// onHeap executes the operations on the heap. The parameters of exceptions are those of DProbes: the size that did not
// fit, or the handle and the offset.
func (m heapOps) onHeap(in *Inst) outcome.Trap {
	switch in.Op {
	case opcode.Malloc:
		size := m.pop()
		handle := m.heap.alloc(size, min(max(m.code.Heap, 0), MaxHeap))
		if handle == 0 {
			m.p1, m.p2 = size, 0
			return outcome.TrapHeap
		}
		m.push(handle)
	case opcode.Free:
		handle := m.pop()
		if !m.heap.free(handle) {
			m.p1, m.p2 = handle, 0
			return outcome.TrapHandle
		}
	case opcode.PushH8:
		return m.pushHeap(1)
	case opcode.PushH16:
		return m.pushHeap(2)
	case opcode.PushH32:
		return m.pushHeap(4)
	case opcode.PushH64:
		return m.pushHeap(8)
	case opcode.PopH8:
		return m.popHeap(1)
	case opcode.PopH16:
		return m.popHeap(2)
	case opcode.PopH32:
		return m.popHeap(4)
	case opcode.PopH64:
		return m.popHeap(8)
	default:
		return outcome.TrapOp
	}
	return outcome.NoTrap
}

// pushHeap reads an n-byte number from the heap.
func (m heapOps) pushHeap(n uint64) outcome.Trap {
	offset, handle := m.pop(), m.pop()
	cell, trap := m.cell(handle, offset, n)
	if trap == outcome.NoTrap {
		m.push(littleEndian(cell))
	}
	return trap
}

// popHeap writes an n-byte number to the heap.
func (m heapOps) popHeap(n uint64) outcome.Trap {
	offset, handle, v := m.pop(), m.pop(), m.pop()
	cell, trap := m.cell(handle, offset, n)
	var word [8]byte
	binary.LittleEndian.PutUint64(word[:], v)
	copy(cell, word[:])
	return trap
}

// cell returns n bytes of the heap.
func (m heapOps) cell(handle, offset, n uint64) ([]byte, outcome.Trap) {
	cell, trap := m.heap.cell(handle, offset, n)
	if trap != outcome.NoTrap {
		m.p1, m.p2 = handle, offset
	}
	return cell, trap
}

// littleEndian decodes up to 8 bytes as a number.
func littleEndian(b []byte) (v uint64) {
	for i, c := range b {
		v |= uint64(c) << (8 * i)
	}
	return v
}
