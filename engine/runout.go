package engine

import (
	"time"

	"gotap/engine/linux/procfs"
	"gotap/engine/threadstate"
)

// Letting threads run out of native code.
//
// A thread in native code runs the programs of a hit one after the other. The session may end, or a probe be disarmed, while the thread is
// between two of them: without a processor on a busy machine, or behind a doorbell. If counters were read then, two programs of one place
// could differ, or change afterwards. So the threads are looked at until each of them has been seen elsewhere once: it cannot get into those
// programs again.

// runOutPause is how long a thread in native code runs on until it is looked at again.
const runOutPause = 100 * time.Microsecond

// runOut makes native code run no programs any more, and has the hits completed that have begun. Threads that have been seen elsewhere stay held.
func (l *lifecycle) runOut(patience time.Duration) {
	if l.closed || !l.s.natives.inlines() {
		return
	}
	l.s.natives.disableJumps()
	seen := map[*thread]bool{}
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(runOutPause) {
		_, inside, all := l.s.world.lookOutside(seen, func(*stub) bool { return true })
		l.s.world.releaseWorld(inside)
		if all {
			return
		}
		l.handleStops()
	}
}

// handleStops handles the stops that have come.
func (l *lifecycle) handleStops() {
	l.s.stops.dealWithBacklog()
	for range len(l.s.threads) {
		tid, e := l.s.stops.look(&l.s.stops.status, false)
		if e != 0 || tid <= 0 {
			return
		}
		l.s.dispatch(tid, l.s.stops.status)
		l.s.stops.settleStop(tid)
		l.s.world.unpause()
	}
}

// awaitStale waits until no thread is in native code to which no jump leads any more. The tracing thread must be free to handle stops meanwhile.
func (s *Session) awaitStale() {
	if !s.natives.inlines() {
		return
	}
	seen, all := map[*thread]bool{}, false
	for end := time.Now().Add(detachPatience); time.Now().Before(end); time.Sleep(runOutPause) {
		err := s.do(func() error {
			var outside, inside []*thread
			outside, inside, all = s.world.lookOutside(seen, (*stub).stale)
			s.world.releaseWorld(outside)
			s.world.releaseWorld(inside)
			return nil
		})
		if all || err != nil {
			return
		}
	}
}

// stale reports whether no jump leads to a stub, nor will.
func (st *stub) stale() bool {
	j := &st.p.Jump
	return j.Stub != st.start || j.Runs == nil || !j.In && !j.Waits
}

// lookOutside stops the threads that have not been seen outside of the selected stubs, and adds those to seen that are outside now. It returns the threads that
// it holds, and whether all have been seen. Threads that stay stopped until somebody releases them are not looked at.
func (w *stopWorld) lookOutside(seen map[*thread]bool, of func(*stub) bool) (outside, inside []*thread, all bool) {
	due := func(t *thread) bool {
		return !seen[t] && len(codeIn(t.proc.space).jumps.stubs) > 0 && !t.state.Is(threadstate.Gone, threadstate.Held, threadstate.Parked)
	}
	held := w.hold(func(t *thread) bool { return due(t) && !t.still() && !asleep(t.Tid) })
	all = true
	for _, t := range w.s.threads {
		if due(t) {
			pc, _, known := t.standsAt()
			in := codeIn(t.proc.space).jumps.stubAt(pc)
			seen[t] = known && (in == nil || !of(in)) || procfs.Ended(t.Tid)
			all = all && seen[t]
		}
	}
	for _, t := range held {
		if seen[t] {
			outside = append(outside, t)
		} else {
			inside = append(inside, t)
		}
	}
	return outside, inside, all
}
