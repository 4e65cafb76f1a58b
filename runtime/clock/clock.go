// Package clock tells executors in other processes the time, in nanoseconds of CLOCK_MONOTONIC, by the counter of the
// processor.
//
// A system call for the time costs more than all else that native code does at a hit, and the traced process need not
// have a vDSO. So native code reads the counter of the processor (the time-stamp counter, or the virtual counter of
// 64-bit ARM) and calculates. The factors lie in the arena: a Line, which the host renews every few seconds (Update),
// because the kernel corrects its clock.
//
// # Lines
//
// Lines are in a ring of Lines banks. One word, the index, selects the present one. Update writes the next bank and
// then the index, so a reader that has read the index may read its bank at leisure: the bank is not written again
// before Lines-1 further updates, several minutes.
//
// Each line begins where the one before has arrived, and has the slope with which it meets the kernel's clock at the
// next update. So the time never goes back, and never jumps unless the host slept.
//
// # Threads
//
// One goroutine at a time calls Update. The words may be read by anyone, in any process.
package clock

import (
	"errors"
	"math/bits"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"gotap/runtime/arena"
)

// Layout of the clock in the arena, in bytes from its start: the index, then at Banks the banks, each of BankSize
// bytes.
const (
	Lines    = 64
	Banks    = 64
	BankSize = 32

	size = Banks + Lines*BankSize
)

// Offsets in bytes of the words of a bank. The time is Nanos + ((counter-Counter)*Rate)>>32, with a product of 128
// bits.
const (
	RateAt    = 0
	CounterAt = 8
	NanosAt   = 16
)

// Period is the time between two calls of Update.
const Period = 4 * time.Second

// Clock is the clock of an arena.
type Clock struct {
	off   uint64
	words []uint64

	first sample // where the rate is measured from
	line  line
}

// sample is the same moment on both clocks.
type sample struct{ counter, nanos uint64 }

// line converts a counter to a time.
type line struct{ rate, counter, nanos uint64 }

// at returns the time of a counter.
func (l line) at(counter uint64) uint64 {
	hi, lo := bits.Mul64(counter-l.counter, l.rate)
	return l.nanos + (hi<<32 | lo>>32)
}

// measured is how long the first measurement of the rate takes. The error of a sample is some ten nanoseconds.
const measured = 5 * time.Millisecond

// New makes a clock in an arena; that takes some milliseconds. The error says why the counter of this processor does
// not tell the time.
func New(a *arena.Arena) (*Clock, error) {
	if why := steady(); why != "" {
		return nil, errors.New(why)
	}
	off, words, ok := a.Reserve(size)
	if !ok {
		return nil, errors.New("the arena is full")
	}
	c := &Clock{off: off, words: words, first: take()}
	time.Sleep(measured)
	now := take()
	c.publish(line{slope(c.first, now), now.counter, now.nanos})
	return c, nil
}

// Offset returns where the clock lies in the arena, in bytes.
func (c *Clock) Offset() uint64 { return c.off }

// Update renews the line.
func (c *Clock) Update() {
	now := take()
	shown, rate := c.line.at(now.counter), slope(c.first, now)
	const jump = uint64(time.Second)
	if shown+jump < now.nanos { // the host slept, and the counter with it
		c.first = now
		c.publish(line{c.line.rate, now.counter, now.nanos})
		return
	}
	// behind is what the line lacks at the end of the period, at the rate of the kernel's clock.
	behind := float64(int64(now.nanos-shown)) / float64(Period)
	rate += uint64(int64(float64(rate) * max(min(behind, 0.01), -0.01)))
	c.publish(line{rate, now.counter, shown})
}

// Now returns the time as readers of the arena see it.
func (c *Clock) Now() uint64 { return c.line.at(counter()) }

// publish writes the next line. Counters of the other processors may be a little behind this one, so the line begins
// earlier.
func (c *Clock) publish(l line) {
	const early = 1 << 20
	l.counter -= early
	hi, lo := bits.Mul64(early, l.rate)
	l.nanos -= hi<<32 | lo>>32
	c.line = l
	n := (atomic.LoadUint64(&c.words[0]) + 1) % Lines
	bank := c.words[(Banks+n*BankSize)/8:]
	atomic.StoreUint64(&bank[RateAt/8], l.rate)
	atomic.StoreUint64(&bank[CounterAt/8], l.counter)
	atomic.StoreUint64(&bank[NanosAt/8], l.nanos)
	atomic.StoreUint64(&c.words[0], n)
}

// slope returns the rate between two samples.
func slope(from, to sample) uint64 {
	q, _ := bits.Div64((to.nanos-from.nanos)>>32, (to.nanos-from.nanos)<<32, to.counter-from.counter)
	return q
}

// take reads both clocks at the same moment: of several readings the one that took the shortest.
func take() (best sample) {
	shortest := ^uint64(0)
	for range 16 {
		var now unix.Timespec
		before := counter()
		if unix.ClockGettime(unix.CLOCK_MONOTONIC, &now) != nil {
			continue
		}
		if took := counter() - before; took < shortest {
			shortest, best = took, sample{before + took/2, uint64(now.Nano())}
		}
	}
	return best
}
