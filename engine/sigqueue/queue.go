package sigqueue

import (
	"iter"
	"os"
	"slices"
	"time"

	"gotap/engine/crashsafe/fallback"
	"gotap/engine/linux/ptrace"
	"gotap/engine/tracee"
)

// Queue holds the signals that were taken from a thread and not yet delivered, and the mask that keeps further ones in
// the kernel meanwhile. What has to be delivered if the session is killed is in the fallback's list too (kept).
type Queue struct {
	Owed       int // the signal to deliver when a parked or held thread resumes
	t          *tracee.Thread
	on         Target
	deferred   []ptrace.SigInfo // signals that arrived during a step or were kept longer, oldest first
	resent     []ptrace.SigInfo // the original siginfo of signals that were resent
	mask       uint64           // the thread's own mask while masked is set
	masked     bool
	kept       keptFrom
	starvation starvation
}

// Target is the thread in its session.
type Target interface {
	Resume(sig int)
	// Closing reports whether the session is ending: nothing is kept any more.
	Closing() bool
	// MayRun reports whether the thread may run code at this moment.
	MayRun() bool
	// Handled reports whether the fallback's handler receives the SIGTRAPs of the thread's process.
	Handled() bool
	// CertainHit reports whether the thread's next action is a hit of an instruction that completes by itself.
	CertainHit() bool
	// AwaitsCall reports whether the session waits for the entry or the end of a system call of the thread.
	AwaitsCall() bool
	// Siblings yields the queues of all threads that share the thread's memory, its own included.
	Siblings() iter.Seq[*Queue]
	// After calls fn on the tracing thread after some time.
	After(d time.Duration, fn func())
	// Checkpoint tells tests that the session is at a moment.
	Checkpoint(tracee.Moment)
}

// Init sets the thread.
func (q *Queue) Init(t *tracee.Thread, on Target) { q.t, q.on = t, on }

// Reset forgets everything, for a new image.
func (q *Queue) Reset() { q.deferred, q.masked, q.Owed = q.deferred[:0], false, 0 }

// Len returns the number of signals that are kept, and of those that were resent and have not come back.
func (q *Queue) Len() int { return len(q.deferred) + len(q.resent) }

// Defer keeps a signal that was taken from the thread.
func (q *Queue) Defer(info ptrace.SigInfo) { q.deferred = append(q.deferred, info) }

// Resent notes the original siginfo of a signal that has been sent to the thread again.
func (q *Queue) Resent(info ptrace.SigInfo) { q.resent = append(q.resent, info) }

// Resend sends the thread a signal that was taken from it.
func (q *Queue) Resend(info *ptrace.SigInfo) {
	if q.sendAgain(info) {
		q.Resent(*info)
	}
}

// KeptMask returns the thread's own mask, if a different one is in force because signals are kept.
func (q *Queue) KeptMask() (mask uint64, differs bool) { return q.mask, q.masked }

// Mask returns the thread's own signal mask. ok is false if the thread has been killed.
func (q *Queue) Mask() (mask uint64, ok bool) {
	if q.masked {
		return q.mask, true
	}
	ok = ptrace.GetSigMask(q.t.Tid, &mask) == 0
	return mask, ok
}

// SetMask sets the thread's own signal mask, which comes into force when nothing is kept any more.
func (q *Queue) SetMask(mask uint64) {
	if q.masked {
		q.mask = mask
		q.noteKept(mask)
		return
	}
	ptrace.SetSigMask(q.t.Tid, &mask)
}

// Block adds signals to the thread's own signal mask.
func (q *Queue) Block(set uint64) {
	if q.masked {
		q.mask |= set
		q.noteKept(q.mask)
		return
	}
	var mask uint64
	if ptrace.GetSigMask(q.t.Tid, &mask) == 0 {
		mask |= set
		ptrace.SetSigMask(q.t.Tid, &mask)
	}
}

// Requeue resends the kept signals other than the first: stop signals, and signals with the number of a fault that
// threads send each other. Signals that were resent earlier and have not come back arrived later than these, so
// these go in front of them in the list: the next signal that comes back gets the siginfo of the oldest.
func (q *Queue) Requeue() {
	older := 0
	for i := range q.deferred {
		if q.sendAgain(&q.deferred[i]) {
			q.resent = slices.Insert(q.resent, older, q.deferred[i])
			older++
		}
	}
	q.deferred = q.deferred[:0]
}

// sendAgain sends the thread a signal that was taken from it, and reports whether its siginfo has to be put back when
// it arrives (identify). What the handler of an earlier session sent (fallback.IsOwnCode) keeps its siginfo: without it
// the handler would take the signal for the program's own, which ends the process. So would the kernel once the handler
// is removed. Then the thread has been settled (settleLeft), and the signal is dropped.
func (q *Queue) sendAgain(info *ptrace.SigInfo) (lacksInfo bool) {
	if info.Signal() != ptrace.SIGTRAP || !fallback.IsOwnCode(info.Code()) {
		return ptrace.SendThread(q.t.Of.Pid(), q.t.Tid, info.Signal()) == 0
	}
	if q.on.Handled() {
		ptrace.QueueThread(q.t.Of.Pid(), q.t.Tid, info)
	}
	return false
}

// Identify restores the original siginfo of the signal that the thread is stopped with, if the signal was resent. A
// real-time signal that was not resent swaps its siginfo with a resent one: see swapInfo.
func (q *Queue) Identify(sig int) {
	if !q.isResent(sig) && sig >= ptrace.FirstRealTime {
		q.swapInfo(q.resent, sig)
	}
}

// isResent reports whether the thread is stopped with a signal that was resent, and restores its original siginfo.
func (q *Queue) isResent(sig int) bool {
	i := slices.IndexFunc(q.resent, func(s ptrace.SigInfo) bool { return s.Signal() == sig })
	if i < 0 || q.t.SignalCode() != ptrace.CodeThread || q.t.Info.Pid() != 0 && q.t.Info.Pid() != os.Getpid() {
		return false
	}
	q.t.Info = q.resent[i]
	q.resent = slices.Delete(q.resent, i, i+1)
	ptrace.SetSigInfo(q.t.Tid, &q.t.Info)
	return true
}

// swapInfo gives the signal that the thread is stopped with the siginfo of the first signal of its number in a
// list, and puts the signal's own siginfo at the end of the list instead. Real-time signals are queued; this way
// the program sees them in the order in which they were sent, whichever the kernel delivers first.
func (q *Queue) swapInfo(list []ptrace.SigInfo, sig int) {
	i := slices.IndexFunc(list, func(s ptrace.SigInfo) bool { return s.Signal() == sig })
	if i < 0 || ptrace.GetSigInfo(q.t.Tid, &q.t.Info) != 0 {
		return
	}
	now := q.t.Info
	q.t.Info = list[i]
	copy(list[i:], list[i+1:])
	list[len(list)-1] = now
	ptrace.SetSigInfo(q.t.Tid, &q.t.Info)
}

// Raised reports whether the instruction raised the signal that the thread is stopped with.
func (q *Queue) Raised(sig int) bool {
	return ptrace.Synchronous>>(sig-1)&1 == 1 && q.t.SignalCode() > 0
}

// Postpone keeps a signal until the step is over, and resumes the thread.
func (q *Queue) Postpone(sig int) {
	q.Keep(sig)
	q.on.Resume(0)
}

// Keep keeps the signal that the thread is stopped with, and blocks all others except the synchronous ones.
func (q *Queue) Keep(sig int) {
	q.Identify(sig)
	q.keepSignal(sig)
}

// keepSignal keeps the signal that the thread is stopped with, which has been identified, and blocks all others
// except the ptrace.Synchronous ones.
func (q *Queue) keepSignal(sig int) {
	if q.t.SignalCode(); q.t.Info.Signal() == sig {
		q.deferred = append(q.deferred, q.t.Info)
	}
	if q.masked {
		q.noteKept(q.mask)
	}
	if !q.masked && ptrace.GetSigMask(q.t.Tid, &q.mask) == 0 {
		q.noteKept(q.mask)
		all := ^uint64(ptrace.Synchronous)
		q.masked = ptrace.SetSigMask(q.t.Tid, &all) == 0
	}
}

// Unmask restores the thread's own signal mask.
func (q *Queue) Unmask() {
	if q.masked {
		ptrace.SetSigMask(q.t.Tid, &q.mask)
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
func (q *Queue) noteKept(mask uint64) {
	g := q.t.Of.Region()
	if g.Base == 0 {
		return
	}
	now := fallback.Thread{Tid: q.t.Tid, Masked: true, Mask: mask}
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
	if q.kept.entry > g.Threads {
		g.Threads = q.kept.entry
		at, p := fallback.Masks(g.Base, g.Threads)
		q.t.Memory().Poke(at, p, q.t.Tid)
	}
}

// freeEntry returns a free entry in the list of threads, or 0 if there is none.
func (q *Queue) freeEntry() int {
	used := map[int]bool{}
	for o := range q.on.Siblings() {
		used[o.kept.entry] = true
	}
	for i := 1; i <= fallback.Threads; i++ {
		if !used[i] && !q.t.Of.Region().IsEntry(i-1) {
			return i
		}
	}
	return 0
}

// writeKept writes the thread's entry.
func (q *Queue) writeKept(what fallback.Thread) {
	at, p := what.Entry(q.t.Of.Region().Base, q.kept.entry-1)
	q.t.Memory().Poke(at, p[:], q.t.Tid)
}

// DropKept removes the thread from the list when nothing is withheld from it any more.
func (q *Queue) DropKept() {
	if q.kept.entry != 0 && !q.masked && len(q.deferred) == 0 {
		q.writeKept(fallback.Thread{})
		q.kept = keptFrom{}
	}
}
