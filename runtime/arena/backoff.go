package arena

import (
	gort "runtime"
	"time"
)

// backoff bounds the wait for another thread. The wait takes nanoseconds; milliseconds if that thread is preempted;
// forever if it has died. So backoff first yields, then sleeps, and finally gives up.
type backoff struct{ turns int }

// How long: tests change it.
var yields, sleeps = 64, 2000

const sleepFor = 50 * time.Microsecond

// wait lets other threads run. It returns false after waiting for long enough.
func (b *backoff) wait() bool {
	b.turns++
	switch {
	case b.turns <= yields:
		gort.Gosched()
	case b.turns <= yields+sleeps:
		time.Sleep(sleepFor)
	default:
		return false
	}
	return true
}
