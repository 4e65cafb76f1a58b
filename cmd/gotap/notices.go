package main

import "sync/atomic"

// notices are what the engine has to tell the user. It tells on its thread, which targets wait for, and standard error may be a pipe
// that nobody reads: so another goroutine does the writing, and what it has no room for is counted.
type notices struct {
	queue   chan func()
	dropped atomic.Uint64
}

// noticeRoom is how many notices wait to be written at most.
const noticeRoom = 4096

func newNotices() *notices {
	n := &notices{queue: make(chan func(), noticeRoom)}
	go func() {
		for tell := range n.queue {
			tell()
		}
	}()
	return n
}

// post has tell called by the goroutine, after all that was posted before. It does not block.
func (n *notices) post(tell func()) {
	select {
	case n.queue <- tell:
	default:
		n.dropped.Add(1)
	}
}

// flush waits until all that was posted has been told.
func (n *notices) flush() {
	told := make(chan struct{})
	n.queue <- func() { close(told) }
	<-told
}
