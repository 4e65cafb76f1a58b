package gotap

import (
	"sync"
	"sync/atomic"
)

// notices call hooks on a goroutine of their own: the engine reports on its tracing thread, which targets wait for, and
// a hook may write to a pipe that nobody reads. Notices that do not fit in the queue are counted.
type notices struct {
	queue   chan func()
	dropped atomic.Uint64
	closing sync.Once
	quit    chan struct{}
}

// noticeRoom is how many notices can wait.
const noticeRoom = 4096

func newNotices() *notices {
	n := &notices{queue: make(chan func(), noticeRoom), quit: make(chan struct{})}
	go n.run()
	return n
}

func (n *notices) run() {
	for {
		select {
		case report := <-n.queue:
			report()
		case <-n.quit:
			return
		}
	}
}

// post has report called by the goroutine, after everything that was posted before. It does not block.
func (n *notices) post(report func()) {
	select {
	case n.queue <- report:
	default:
		n.dropped.Add(1)
	}
}

// flush waits until everything that was posted has been reported.
func (n *notices) flush() {
	done := make(chan struct{})
	select {
	case n.queue <- func() { close(done) }:
	case <-n.quit:
		return
	}
	select {
	case <-done:
	case <-n.quit:
	}
}

// close ends the goroutine. Notices that are posted later are dropped.
func (n *notices) close() { n.closing.Do(func() { close(n.quit) }) }
