package arena

import (
	"math/bits"
	"sync/atomic"

	"gotap/runtime/snapshot"
)

// atomicMin lowers *p to v. Lock-free: a lost race means that *p changed.
func atomicMin(p *uint64, v int64) {
	for {
		old := atomic.LoadUint64(p)
		if int64(old) <= v || atomic.CompareAndSwapUint64(p, old, uint64(v)) {
			return
		}
	}
}

// atomicMax raises *p to v.
func atomicMax(p *uint64, v int64) {
	for {
		old := atomic.LoadUint64(p)
		if int64(old) >= v || atomic.CompareAndSwapUint64(p, old, uint64(v)) {
			return
		}
	}
}

// add adds a signed number to a word.
func add(p *uint64, v int64) int64 { return int64(atomic.AddUint64(p, uint64(v))) }

// square returns the square of a number.
func square(v int64) snapshot.Wide {
	m := uint64(v)
	if v < 0 {
		m = -m
	}
	hi, lo := bits.Mul64(m, m)
	return snapshot.Wide{Hi: hi, Lo: lo}
}

// addWide adds to a number of two words, the lower one first. Until it returns, the sum may lack the carry.
func addWide(p []uint64, n snapshot.Wide) {
	sum := atomic.AddUint64(&p[0], n.Lo)
	if sum < n.Lo {
		n.Hi++
	}
	if n.Hi != 0 {
		atomic.AddUint64(&p[1], n.Hi)
	}
}
