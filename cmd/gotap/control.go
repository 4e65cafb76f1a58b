package main

import (
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"
)

// A control passes on the user's signals: from the supervisor's pipe, or received directly when there is none.
type control struct {
	Interrupts <-chan struct{} // one for each Ctrl-C
	Dumps      <-chan struct{} // SIGUSR1: print the aggregations as they are
	Gone       <-chan struct{} // closed: the supervisor has ended, or SIGTERM came
	Orphaned   *atomic.Bool    // set before Gone is closed: the supervisor was killed
}

// newControl listens to the supervisor. While there is one, signals sent to the session itself are caught and dropped:
// a terminal's Ctrl-C reaches both processes and must count once. (They are not ignored: an ignored signal would stay
// ignored in COMMAND.)
func newControl(w *World) control {
	interrupts, dumps, gone, orphaned := make(chan struct{}, 8), make(chan struct{}, 1), make(chan struct{}), new(atomic.Bool)
	signals := make(chan os.Signal, 16)
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGPIPE, syscall.SIGUSR1} {
		if w.control == nil || !signal.Ignored(s) { // those that COMMAND is to find ignored stay it
			signal.Notify(signals, s)
		}
	}
	if w.control == nil {
		go listenSignals(signals, interrupts, dumps, gone)
	} else {
		go listenPipe(w.control, interrupts, dumps, gone, orphaned)
	}
	return control{interrupts, dumps, gone, orphaned}
}

// samePress is how soon another interrupt is a copy of the first: timeout(1) signals gotap, then its process group. No
// user is as quick.
const samePress = 200 * time.Millisecond

// presses distinguishes a second interrupt from the first one's copies.
type presses struct{ last time.Time }

// counts reports whether an interrupt that comes now is one of its own.
func (p *presses) counts(now time.Time) bool {
	again := now.Sub(p.last) >= samePress
	if again {
		p.last = now
	}
	return again
}

func listenSignals(signals <-chan os.Signal, interrupts, dumps chan<- struct{}, gone chan struct{}) {
	var pressed presses
	for s := range signals {
		switch s {
		case syscall.SIGPIPE: // the failed write reports its own error
		case syscall.SIGINT:
			if pressed.counts(time.Now()) {
				notify(interrupts)
			}
		case syscall.SIGUSR1:
			notify(dumps)
		default:
			close(gone)
			return
		}
	}
}

func listenPipe(pipe *os.File, interrupts, dumps chan<- struct{}, gone chan struct{}, orphaned *atomic.Bool) {
	defer close(gone)
	word := make([]byte, 1)
	for {
		n, err := pipe.Read(word)
		if n == 0 || err != nil {
			orphaned.Store(true)
			return
		}
		switch word[0] {
		case controlTerminate:
			return
		case controlDump:
			notify(dumps)
		default:
			notify(interrupts)
		}
	}
}

// notify sends without waiting: a ninth Ctrl-C is dropped.
func notify(to chan<- struct{}) {
	select {
	case to <- struct{}{}:
	default:
	}
}
