package engine

import (
	"syscall"

	"gotap/engine/linux/ptrace"
	"gotap/engine/turns"
)

// dealWithBacklog handles the stops that came while all threads were held.
func (k *stops) dealWithBacklog() {
	for len(k.backlog) > 0 {
		b := k.backlog[0]
		k.backlog = k.backlog[1:]
		k.s.dispatch(b.tid, b.status)
		k.s.world.unpause()
	}
}

// stop is a stop of a thread that has not been handled.
type stop struct {
	tid    int
	status ptrace.Status
}

// stops waits for the stops of tracees and consumes them. Stops that come while others have to wait are in the backlog.
type stops struct {
	s       *Session
	backlog []stop // stops that came while all threads were held, to be handled in order
	turns   turns.Turns
	status  ptrace.Status
	special ptrace.Status
}

// wait waits for the next stop. It only peeks at a stop for a signal, so that the signal is delivered if we are killed
// before the thread is resumed. Call settleStop when the stop has been handled.
func (k *stops) wait() (int, syscall.Errno) { return k.look(-1, &k.status, k.s.loop.Patience()) }

func (k *stops) look(of int, st *ptrace.Status, patience ptrace.Patience) (int, syscall.Errno) {
	tid, e := ptrace.PeekStop(of, st, patience)
	if e == 0 && tid > 0 {
		k.takeStop(tid, *st)
	}
	return tid, e
}

// handle handles the stop of a thread that has been seen.
func (k *stops) handle(tid int) {
	came := k.s.throttle.Now()
	k.s.dispatch(tid, k.status)
	k.settleStop(tid)
	k.s.world.unpause()
	k.s.throttle.StopOver(came)
	k.s.affinity.Stopped(came)
}

// takeTurns handles one stop of each thread that has one, when that is due: see package turns.
func (k *stops) takeTurns() {
	if len(k.s.threads) < 2 || !k.turns.Due() {
		return
	}
	found, threads := 0, len(k.s.threads)
	for of, t := range k.s.threads {
		k.dealWithBacklog()
		if k.s.life.closed || !t.mayRun() {
			continue
		}
		if tid, e := k.look(of, &k.status, ptrace.NoWait); e == 0 && tid > 0 {
			k.handle(tid)
			found++
		}
	}
	k.turns.Found(found, threads)
}

// takeStop consumes a report that was peeked at: the end of a thread, or a stop. A stop of a known thread for a signal
// is only marked as peeked.
func (k *stops) takeStop(tid int, st ptrace.Status) {
	t := k.s.threads[tid]
	switch {
	case st.Ended():
		ptrace.Poll(tid, &st)
	case t != nil && st.Stopped() && st.Event() == ptrace.EventNone && !st.AtSyscall():
		t.Peeked = true
	default:
		ptrace.ConsumeStop(tid)
	}
}

// settleStop consumes a stop that has been handled, if the thread has not been resumed.
func (k *stops) settleStop(tid int) {
	if t := k.s.threads[tid]; t != nil && t.state.InStop() {
		t.Consume()
	}
}

// waitFor waits for the next stop of one thread, while all other threads have to wait. ok is false if the thread ended
// without a report.
func (k *stops) waitFor(tid int) (st ptrace.Status, ok bool) {
	for {
		switch _, e := ptrace.Wait(tid, &k.special); e {
		case 0:
			return k.special, true
		case syscall.EINTR:
		default:
			return 0, false
		}
	}
}

// handleCome handles the stops that have come.
func (k *stops) handleCome() {
	k.dealWithBacklog()
	for range len(k.s.threads) {
		tid, e := k.look(-1, &k.status, ptrace.NoWait)
		if e != 0 || tid <= 0 {
			return
		}
		k.s.dispatch(tid, k.status)
		k.settleStop(tid)
		k.s.world.unpause()
	}
}
