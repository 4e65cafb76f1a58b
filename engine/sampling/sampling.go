package sampling

import (
	"math/rand/v2"
	"time"
)

const (
	// effort is the share of the time for which a session may be busy with samples: 1/effort.
	effort = 10
	// burst is for how long it may be busy before that counts, because the first look at a program has to read its
	// files.
	burst = 100 * time.Millisecond
)

// Schedule says when threads are looked at. Times are in nanoseconds of one clock, whichever it is.
type Schedule struct {
	period, due uint64
	saved       int64 // nanoseconds for which the session may be busy
}

// NewSchedule returns the schedule with a look in every period after now.
func NewSchedule(period time.Duration, now uint64) Schedule {
	return Schedule{uint64(period), now + uint64(period), int64(burst)}
}

// Wait returns the time until the next look, from now on; 0 when it is late.
func (s *Schedule) Wait(now uint64) time.Duration { return time.Duration(max(s.due, now) - now) }

// Looked is called after a look that is over now. Busy is the processor time, in nanoseconds, that this look and the
// samples since the one before took. It returns how many periods are skipped before the next look.
func (s *Schedule) Looked(now, busy uint64) (skipped uint64) {
	steps := uint64(1)
	if now > s.due {
		steps += (now - s.due) / s.period
	}
	granted := s.period / effort
	if debt := int64(busy) - s.saved - int64(steps*granted); debt > 0 {
		steps += (uint64(debt) + granted - 1) / granted
	}
	s.saved = min(int64(burst), s.saved+int64(steps*granted)-int64(busy))
	s.due += steps * s.period
	return steps - 1
}

// most is how many periods a Credit keeps for a thread that was asleep at each look.
const most = 10

// Credit is the time that a thread has run and for which it has no sample yet.
type Credit struct {
	period, ran, owed uint64
}

// NewCredit returns the credit of a thread that has run for some nanoseconds, which are not sampled.
func NewCredit(period time.Duration, ran uint64) Credit {
	return Credit{uint64(period), ran, rand.Uint64N(uint64(period))}
}

// Ran is called with the nanoseconds for which the thread has run since its start. It returns the number of samples
// that are lost, because more of them are due than are kept.
func (c *Credit) Ran(total uint64) (lost uint64) {
	if total > c.ran {
		c.owed += total - c.ran
		c.ran = total
	}
	if periods := c.owed / c.period; periods > most {
		lost = periods - most
		c.owed -= lost * c.period
	}
	return lost
}

// Due reports whether the thread is to be sampled.
func (c *Credit) Due() bool { return c.owed >= c.period }

// Sampled is called when it has been.
func (c *Credit) Sampled() { c.owed -= min(c.owed, c.period) }
