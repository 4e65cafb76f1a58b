package trampoline

import (
	"time"

	"gotap/engine/linux/procfs"
	"gotap/engine/threadstate"
)

// Letting threads run out of native code.
//
// A thread in native code runs the programs of a hit one after the other. The session may end, or a probe be disarmed,
// while the thread is between two of them: without a processor on a busy machine, or behind a doorbell. If counters
// were read then, two programs of one place could differ, or change afterwards. So the threads are looked at until each
// of them has been seen elsewhere once: it cannot get into those programs again.

// runOutPause is how long a thread in native code runs on until it is looked at again.
const runOutPause = 100 * time.Microsecond

// stalePatience is how long AwaitStale waits.
const stalePatience = 1500 * time.Millisecond

// RunOut makes native code run no programs any more, and has the hits completed that have begun. Threads that run stay
// held once they have been seen elsewhere. Of those that had stopped already, or that sleep, that is not enough: when
// their stop is handled, or they wake up, they may come to native code again. So they are looked at until the end, when
// all are elsewhere at the same time.
func (c *Executor) RunOut(patience time.Duration) {
	if !c.Inlines() {
		return
	}
	c.Disable()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(runOutPause) {
		_, inside, all := c.lookOutside(map[*Thread]bool{}, func(*stub) bool { return true })
		c.on.Release(inside)
		if all {
			return
		}
		c.on.HandleStops()
	}
}

// AwaitStale waits until no thread is in native code to which no jump leads any more. The tracing thread must be free
// to handle stops meanwhile.
func (c *Executor) AwaitStale() {
	if !c.Inlines() {
		return
	}
	seen, all := map[*Thread]bool{}, false
	for end := time.Now().Add(stalePatience); time.Now().Before(end); time.Sleep(runOutPause) {
		err := c.on.Do(func() error {
			var outside, inside []*Thread
			outside, inside, all = c.lookOutside(seen, (*stub).stale)
			c.on.Release(outside)
			c.on.Release(inside)
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

// lookOutside stops the threads that have not been seen outside of the selected stubs, and adds those to seen that are
// outside now. It returns the threads that it holds, and whether all have been seen. Threads that stay stopped until
// somebody releases them are not looked at.
func (c *Executor) lookOutside(seen map[*Thread]bool, of func(*stub) bool) (outside, inside []*Thread, all bool) {
	due := func(t *Thread) bool {
		return !seen[t] && len(codeIn(t.proc.Space).jumps.stubs) > 0 && !t.parts.State.Is(threadstate.Gone, threadstate.Held, threadstate.Parked)
	}
	held := c.on.Hold(due)
	all = true
	for t := range c.on.Threads() {
		if due(t) {
			pc, _, known := t.standsAt()
			in := stubAt(t.proc.Space, pc)
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
