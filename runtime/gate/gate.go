package gate

import (
	"sync/atomic"
	"time"
)

// Words is how many words a gate takes.
const Words = 16

// The words of a gate, by index.
const (
	after = iota
	every
	rate
	limit
	seen
	rejected
	hits
	rateLimited
	missed
	tooDeep
	base
	second
	inSecond
)

// Offsets in bytes of the words that other executors add to, from Gate.Offset.
const (
	SeenOffset     = seen * 8
	RejectedOffset = rejected * 8
	HitsOffset     = hits * 8
)

// Where the words that native code may count in the shares of threads begin, how many there are, and where they are in
// a share, in bytes.
const (
	SharedWords     = rejected
	NumShared       = hits - rejected + 1
	ShareOfRejected = 0
	ShareOfHits     = (hits - rejected) * 8
)

// Share is what threads have counted in words of their own instead (package arena). Offset returns where these are;
// Collect adds what they have gained.
type Share interface {
	Offset() (off uint64, ok bool)
	Collect()
}

// Limits are what a gate goes by; zeros let all hits pass.
type Limits struct {
	After, Every, Rate, Limit uint64
}

// Gate is the gate of one probe.
type Gate struct {
	w    *[Words]uint64
	off  uint64
	open bool         // there are no limits
	now  func() int64 // nanoseconds of CLOCK_MONOTONIC

	share Share // nil: all count in the words
}

// New makes a gate of zeroed words, which lie at an offset of an arena; nil words are memory of the gate's own, and the
// offset is then 0. now is the clock for Rate.
func New(words []uint64, off uint64, l Limits, now func() int64) *Gate {
	if words == nil {
		words, off = make([]uint64, Words), 0
	}
	g := &Gate{w: (*[Words]uint64)(words), off: off, open: l == Limits{}, now: now}
	g.w[after], g.w[every], g.w[rate], g.w[limit] = l.After, l.Every, l.Rate, l.Limit
	return g
}

// SetShare tells which share threads have in the words from SharedWords on. It is called before anybody counts.
func (g *Gate) SetShare(s Share) { g.share = s }

// Share returns where, in the share of each thread, native code counts hits and rejected hits, in bytes. ok is false if
// it has to count in the words. With limits it has to: the number of a hit decides whether that counts.
func (g *Gate) Share() (off uint64, ok bool) {
	if g.share == nil || !g.open {
		return 0, false
	}
	return g.share.Offset()
}

// collect adds to the words what threads have counted elsewhere.
func (g *Gate) collect() {
	if g.share != nil {
		g.share.Collect()
	}
}

// Offset is where the gate lies in its arena, 0 when it is in none.
func (g *Gate) Offset() uint64 { return g.off }

// Limits returns what the gate goes by.
func (g *Gate) Limits() Limits {
	return Limits{After: g.w[after], Every: g.w[every], Rate: g.w[rate], Limit: g.w[limit]}
}

// Admit counts a hit and decides whether it counts. last says that it is the last one that Limit allows.
func (g *Gate) Admit() (ok, last bool) {
	if !g.due() {
		return false, false
	}
	n := atomic.AddUint64(&g.w[hits], 1)
	most := atomic.LoadUint64(&g.w[limit])
	if most == 0 {
		return true, false
	}
	if n -= atomic.LoadUint64(&g.w[base]); n > most {
		atomic.AddUint64(&g.w[hits], ^uint64(0))
		return false, true
	}
	return true, n == most
}

// Count is Admit without Limit: for the end of what began while hits were admitted.
func (g *Gate) Count() bool {
	if !g.due() {
		return false
	}
	atomic.AddUint64(&g.w[hits], 1)
	return true
}

// due counts a hit as seen, and reports whether After, Every and Rate let it pass. A gate without limits lets all pass,
// and their number is that of the hits.
func (g *Gate) due() bool {
	if g.open {
		return true
	}
	n, first := atomic.AddUint64(&g.w[seen], 1), atomic.LoadUint64(&g.w[after])
	if n <= first {
		return false
	}
	if each := atomic.LoadUint64(&g.w[every]); each > 1 && (n-first)%each != 0 {
		return false
	}
	if most := atomic.LoadUint64(&g.w[rate]); most > 0 && !g.inRate(most, g.now()) {
		atomic.AddUint64(&g.w[rateLimited], 1)
		return false
	}
	return true
}

// inRate reports whether a hit is among the first so many of its second, and counts it. A second begins with the first
// hit behind the one before.
func (g *Gate) inRate(most uint64, now int64) bool {
	began := atomic.LoadUint64(&g.w[second])
	if atomic.LoadUint64(&g.w[inSecond]) == 0 || now-int64(began) >= int64(time.Second) {
		if atomic.CompareAndSwapUint64(&g.w[second], began, uint64(now)) {
			atomic.StoreUint64(&g.w[inSecond], 0)
		}
	}
	if atomic.LoadUint64(&g.w[inSecond]) >= most {
		return false
	}
	atomic.AddUint64(&g.w[inSecond], 1)
	return true
}

// Renew lets a gate whose Limit is reached count from zero again.
func (g *Gate) Renew() {
	n := atomic.LoadUint64(&g.w[hits])
	if most := atomic.LoadUint64(&g.w[limit]); most > 0 && n-atomic.LoadUint64(&g.w[base]) >= most {
		atomic.StoreUint64(&g.w[base], n)
	}
}

// Reject counts a hit that the probe's predicate rejected.
func (g *Gate) Reject() { atomic.AddUint64(&g.w[rejected], 1) }

// Miss counts a call that could not be followed to its return.
func (g *Gate) Miss() { atomic.AddUint64(&g.w[missed], 1) }

// MissDeep counts, of the calls that Miss counts, one beyond the number that is followed at once.
func (g *Gate) MissDeep() { atomic.AddUint64(&g.w[tooDeep], 1) }

// Seen is how many hits came to the gate.
func (g *Gate) Seen() uint64 {
	if g.open {
		return g.Hits()
	}
	return atomic.LoadUint64(&g.w[seen])
}

// Rejected is how many hits the probe's predicate rejected.
func (g *Gate) Rejected() uint64 {
	g.collect()
	return atomic.LoadUint64(&g.w[rejected])
}

// Hits is how many hits counted.
func (g *Gate) Hits() uint64 {
	g.collect()
	return atomic.LoadUint64(&g.w[hits])
}

// RateLimited is how many hits Rate did not let pass.
func (g *Gate) RateLimited() uint64 { return atomic.LoadUint64(&g.w[rateLimited]) }

// Missed is how many calls could not be followed to their return.
func (g *Gate) Missed() uint64 { return atomic.LoadUint64(&g.w[missed]) }

// TooDeep is how many of those were beyond the number that is followed at once.
func (g *Gate) TooDeep() uint64 { return atomic.LoadUint64(&g.w[tooDeep]) }
