package engine

import (
	"os"
	"slices"

	"gotap/engine/fallback"
	"gotap/engine/linux/ptrace"
)

// signalQueue holds the signals that were taken from a thread and not yet delivered, and the mask that keeps further
// ones in the kernel meanwhile. What has to be delivered if the session is killed is in the fallback's list too (kept).
type signalQueue struct {
	t          *thread
	owed       int              // the signal to deliver when a parked or held thread resumes
	deferred   []ptrace.SigInfo // signals that arrived during a step or were kept longer, oldest first
	resent     []ptrace.SigInfo // the original siginfo of signals that were resent
	mask       uint64           // the thread's own mask while masked is set
	masked     bool
	kept       keptFrom
	starvation starvation
}

// requeue resends the kept signals other than the first: stop signals, and signals with the number of a fault that
// threads send each other. Signals that were resent earlier and have not come back arrived later than these, so
// these go in front of them in the list: the next signal that comes back gets the siginfo of the oldest.
func (q *signalQueue) requeue() {
	older := 0
	for i := range q.deferred {
		if q.sendAgain(&q.deferred[i]) {
			q.resent = slices.Insert(q.resent, older, q.deferred[i])
			older++
		}
	}
	q.deferred = q.deferred[:0]
}

// sendAgain sends the thread a signal that was taken from it, and reports whether its siginfo has to be put back when it
// arrives (identify). What the handler of an earlier session sent (fallback.IsOwnCode) keeps its siginfo: without it the
// handler would take the signal for the program's own, which ends the process. So would the kernel once the handler is
// removed. Then the thread has been settled (settleLeft), and the signal is dropped.
func (q *signalQueue) sendAgain(info *ptrace.SigInfo) (lacksInfo bool) {
	if info.Signal() != ptrace.SIGTRAP || !fallback.IsOwnCode(info.Code()) {
		return ptrace.SendThread(q.t.proc.pid, q.t.tid, info.Signal()) == 0
	}
	if q.t.proc.trap.ours {
		ptrace.QueueThread(q.t.proc.pid, q.t.tid, info)
	}
	return false
}

// identify restores the original siginfo of the signal that the thread is stopped with, if the signal was resent. A
// real-time signal that was not resent swaps its siginfo with a resent one: see swapInfo.
func (q *signalQueue) identify(sig int) {
	if !q.isResent(sig) && sig >= firstRealTime {
		q.swapInfo(q.resent, sig)
	}
}

// isResent reports whether the thread is stopped with a signal that was resent, and restores its original siginfo.
func (q *signalQueue) isResent(sig int) bool {
	i := slices.IndexFunc(q.resent, func(s ptrace.SigInfo) bool { return s.Signal() == sig })
	if i < 0 || q.t.sigtrap.trapCode() != ptrace.CodeThread || q.t.info.Pid() != 0 && q.t.info.Pid() != os.Getpid() {
		return false
	}
	q.t.info = q.resent[i]
	q.resent = slices.Delete(q.resent, i, i+1)
	ptrace.SetSigInfo(q.t.tid, &q.t.info)
	return true
}

// swapInfo gives the signal that the thread is stopped with the siginfo of the first signal of its number in a
// list, and puts the signal's own siginfo at the end of the list instead. Real-time signals are queued; this way
// the program sees them in the order in which they were sent, whichever the kernel delivers first.
func (q *signalQueue) swapInfo(list []ptrace.SigInfo, sig int) {
	i := slices.IndexFunc(list, func(s ptrace.SigInfo) bool { return s.Signal() == sig })
	if i < 0 || ptrace.GetSigInfo(q.t.tid, &q.t.info) != 0 {
		return
	}
	now := q.t.info
	q.t.info = list[i]
	copy(list[i:], list[i+1:])
	list[len(list)-1] = now
	ptrace.SetSigInfo(q.t.tid, &q.t.info)
}

// raised reports whether the instruction raised the signal that the thread is stopped with.
func (q *signalQueue) raised(sig int) bool {
	return synchronous>>(sig-1)&1 == 1 && q.t.sigtrap.trapCode() > 0
}

// postpone keeps a signal until the step is over.
func (q *signalQueue) postpone(sig int) {
	q.identify(sig)
	q.keepSignal(sig)
	q.t.resume(0)
}

// keepSignal keeps the signal that the thread is stopped with, which has been identified, and blocks all others
// except the synchronous ones.
func (q *signalQueue) keepSignal(sig int) {
	if q.t.sigtrap.trapCode(); q.t.info.Signal() == sig {
		q.deferred = append(q.deferred, q.t.info)
	}
	if q.masked {
		q.noteKept(q.mask)
	}
	if !q.masked && ptrace.GetSigMask(q.t.tid, &q.mask) == 0 {
		q.noteKept(q.mask)
		all := ^uint64(synchronous)
		q.masked = ptrace.SetSigMask(q.t.tid, &all) == 0
	}
}

// unmask restores the thread's own signal mask.
func (q *signalQueue) unmask() {
	if q.masked {
		ptrace.SetSigMask(q.t.tid, &q.mask)
		q.masked = false
	}
}

// keptFrom is what the handler's list says about a thread: which signals are withheld from it.
type keptFrom struct {
	entry int // in the list of threads, counted from 1; 0: none
	what  fallback.Thread
}

// noteKept records for the handler what is withheld from the thread. Call it before signals are blocked, or before the
// thread is resumed with signals withheld. If the handler has to deliver them, their siginfo is lost, and how often
// each was sent.
func (q *signalQueue) noteKept(mask uint64) {
	g := &q.t.proc.space.guard
	if g.base == 0 {
		return
	}
	now := fallback.Thread{Tid: q.t.tid, Masked: true, Mask: mask}
	for i := range q.deferred {
		if !fallback.IsOwnCode(q.deferred[i].Code()) {
			now.Kept |= 1 << (q.deferred[i].Signal() - 1)
		}
	}
	if q.kept.entry != 0 && q.kept.what == now {
		return
	}
	if q.kept.entry == 0 {
		if q.kept.entry = q.freeEntry(); q.kept.entry == 0 {
			return
		}
	}
	q.kept.what = now
	q.writeKept(now)
	if q.kept.entry > g.threads {
		g.threads = q.kept.entry
		at, p := fallback.Masks(g.base, g.threads)
		q.t.proc.space.mem.Poke(at, p, q.t.tid)
	}
}

// freeEntry returns a free entry in the list of threads, or 0 if there is none.
func (q *signalQueue) freeEntry() int {
	used := map[int]bool{}
	for _, o := range q.t.s.threads {
		if o.proc.space == q.t.proc.space {
			used[o.queue.kept.entry] = true
		}
	}
	if l := q.t.proc.space.guard.left; l != nil {
		for _, i := range l.threads {
			used[i+1] = true
		}
	}
	for i := 1; i <= fallback.Threads; i++ {
		if !used[i] {
			return i
		}
	}
	return 0
}

func (q *signalQueue) writeKept(what fallback.Thread) {
	sp := q.t.proc.space
	at, p := what.Entry(sp.guard.base, q.kept.entry-1)
	sp.mem.Poke(at, p[:], q.t.tid)
}

// dropKept removes the thread from the list when nothing is withheld from it any more.
func (q *signalQueue) dropKept() {
	if q.kept.entry != 0 && !q.masked && len(q.deferred) == 0 {
		q.writeKept(fallback.Thread{})
		q.kept = keptFrom{}
	}
}
