package arena

import (
	"time"

	"golang.org/x/sys/unix"

	"gotap/runtime/gate"
)

// NewGate allocates a gate in the arena: the counters of a probe, which all executors that map the arena share. If the
// arena is full or nil, the gate is in separate memory, which is sufficient for executors of this process. It is safe
// for concurrent use.
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
	words := a.words[off/8:][:gate.Words]
	g := gate.New(words, off, l, monotonic)
	g.SetShare(newShare(a, words[gate.SharedWords:][:gate.NumShared]))
	return g
}

// began is the start of this process on both clocks. Go's monotonic clock, which is read without a system call, has a
// different origin.
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

// monotonic returns CLOCK_MONOTONIC in nanoseconds.
func monotonic() int64 { return began.nanos + int64(time.Since(began.time)) }
