package main

import (
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
)

// A control is what tells a session to end: the supervisor's pipe, or signals when there is none.
type control struct {
	Interrupts <-chan struct{} // Ctrl-C, each time
	Dumps      <-chan struct{} // SIGUSR1: what has been gathered so far is to be printed
	Gone       <-chan struct{} // closed: the supervisor is no more, or SIGTERM came: end without ceremony
	Orphaned   *atomic.Bool    // set before Gone is closed: nobody asked for the end, the supervisor was killed
}

// newControl listens to the supervisor. Signals sent to the session itself are caught and dropped while it has one: a terminal's
// Ctrl-C reaches both processes and must count once. (Caught, not ignored: an ignored signal would stay ignored in COMMAND.)
//
// asked is set with the first word that the user wants gotap to end.
func newControl(w *World, asked *atomic.Bool) control {
	interrupts, dumps, gone, orphaned := make(chan struct{}, 8), make(chan struct{}, 1), make(chan struct{}), new(atomic.Bool)
	signals := make(chan os.Signal, 16)
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGPIPE, syscall.SIGUSR1} {
		if w.control == nil || !signal.Ignored(s) { // those that COMMAND is to find ignored stay it
			signal.Notify(signals, s)
		}
	}
	if w.control == nil {
		go listenSignals(signals, interrupts, dumps, gone, asked)
	} else {
		go listenPipe(w.control, interrupts, dumps, gone, orphaned, asked)
	}
	return control{interrupts, dumps, gone, orphaned}
}

func listenSignals(signals <-chan os.Signal, interrupts, dumps chan<- struct{}, gone chan struct{}, asked *atomic.Bool) {
	for s := range signals {
		switch s {
		case syscall.SIGPIPE: // the write that failed tells its own story
		case syscall.SIGINT:
			asked.Store(true)
			say(interrupts)
		case syscall.SIGUSR1:
			say(dumps)
		default:
			asked.Store(true)
			close(gone)
			return
		}
	}
}

func listenPipe(pipe *os.File, interrupts, dumps chan<- struct{}, gone chan struct{}, orphaned, asked *atomic.Bool) {
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
			asked.Store(true)
			return
		case controlDump:
			say(dumps)
		default:
			asked.Store(true)
			say(interrupts)
		}
	}
}

// say sends without waiting: nobody needs a ninth Ctrl-C.
func say(to chan<- struct{}) {
	select {
	case to <- struct{}{}:
	default:
	}
}
