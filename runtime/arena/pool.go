package arena

import (
	"math/bits"
	"sync/atomic"
)

// pool allocates the storage of calls in blocks of 2^n bytes. It belongs to the tracing thread, so it needs no lock.
// Only if a list is empty does it take a chunk from the arena, and it never returns one.
type pool struct {
	free [13][]uint64 // by n: blocks of 8 (n=3) to 4096 bytes (n=12)
}

const (
	poolChunk = 64 << 10
	minBlock  = 3
)

// MaxThisBytes is the maximum size of the storage of a call in bytes.
const MaxThisBytes = 4096

// blockClass returns n for a number of bytes, or -1 if it is more than MaxThisBytes.
func blockClass(size int) int {
	if size < 0 || size > MaxThisBytes {
		return -1
	}
	return max(bits.Len(uint(max(size, 1)-1)), minBlock)
}

// AllocThis returns the arena offset of zeroed storage for a call, a multiple of 8. It returns 0 if the arena is
// exhausted or size exceeds MaxThisBytes. Only the tracing thread may call it.
func (a *Arena) AllocThis(size int) uint64 {
	n := blockClass(size)
	if n < 0 || len(a.pool.free[n]) == 0 && !a.refill(n) {
		return 0
	}
	list := a.pool.free[n]
	off := list[len(list)-1]
	a.pool.free[n] = list[:len(list)-1]
	clear(a.bytes[off : off+uint64(1)<<n])
	return off
}

// CopyThis copies size bytes from one storage of a call to another. It copies nothing that is not in the arena.
func (a *Arena) CopyThis(to, from uint64, size int) {
	for off := uint64(0); off+8 <= uint64(size); off += 8 {
		if t, f := a.ThisWords(to, off, 8), a.ThisWords(from, off, 8); t != nil && f != nil {
			t[0] = atomic.LoadUint64(&f[0])
		}
	}
}

// FreeThis frees what AllocThis returned for the same number of bytes. Only the tracing thread may call it.
func (a *Arena) FreeThis(off uint64, size int) {
	n := blockClass(size)
	if n < 0 || off%8 != 0 {
		return
	}
	// The offset may come from memory that other processes write.
	if first, next := uint64(ringData), a.next.Load(); off >= first && off < next && next-off >= uint64(1)<<n {
		a.pool.free[n] = append(a.pool.free[n], off)
	}
}

// refill allocates a new chunk and divides it into blocks.
func (a *Arena) refill(n int) bool {
	a.mu.Lock()
	off, ok := a.allocateLocked(poolChunk)
	a.mu.Unlock()
	if !ok {
		return false
	}
	for at := uint64(0); at < poolChunk; at += 1 << n {
		a.pool.free[n] = append(a.pool.free[n], off+at)
	}
	return true
}
