package runtime

import (
	gort "runtime"
	"time"
)

// backoff bounds waiting for another thread. What one waits for takes nanoseconds unless that
// thread is preempted within it, then milliseconds, or has died within it, then for ever: so it
// yields first, then sleeps, and gives up in the end.
type backoff struct{ turns int }

const (
	yields   = 64
	sleeps   = 2000
	sleepFor = 50 * time.Microsecond
)

// wait lets other threads go on. false: waited for long enough.
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
