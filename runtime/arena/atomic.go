package arena

import (
	"sync/atomic"
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
