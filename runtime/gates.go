package runtime

import (
	"time"

	"golang.org/x/sys/unix"

	"gotap/runtime/gate"
)

// NewGate sets a gate aside in the arena: the counters of a probe, which every executor that maps the arena shares. A full
// or nil arena gives one in memory of its own, which is as good for executors of this process. Safe for concurrent use.
func (a *Arena) NewGate(l gate.Limits) *gate.Gate {
	if a == nil {
		return gate.New(nil, 0, l, monotonic)
	}
	a.mu.Lock()
	off, ok := a.allocateLocked(gate.Words * 8)
	a.mu.Unlock()
	if !ok {
		return gate.New(nil, 0, l, monotonic)
	}
	return gate.New(a.words[off/8:][:gate.Words], off, l, monotonic)
}

// began is the start of this process by both clocks: Go's own, which is read without a system call, has another beginning.
var began = func() (at struct {
	time  time.Time
	nanos int64
}) {
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &now) == nil {
		at.nanos = now.Nano()
	}
	at.time = time.Now()
	return at
}()

// monotonic is CLOCK_MONOTONIC in nanoseconds.
func monotonic() int64 { return began.nanos + int64(time.Since(began.time)) }
