package affinity

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"gotap/engine/image/module"
	"gotap/engine/linux/cpumask"
	"gotap/engine/linux/procfs"
	"gotap/engine/linux/ptrace"
)

// Session is the session as this package sees it.
type Session interface {
	// Only returns the only traced thread, or why there is none that may share the tracing thread's CPU.
	Only() (t Target, why string)
	// After calls fn on the tracing thread after some time.
	After(d time.Duration, fn func())
	// Post calls fn on the tracing thread. Any other goroutine may call it.
	Post(fn func())
	// Together is told whether target and tracing thread share a CPU from now on.
	Together(bool)
	// Warn warns the user.
	Warn(text string)
}

// Target is a traced thread with its image, as this package sees it.
type Target interface {
	IDs() (pid, tid int)
	// Image returns a value that is equal for the same image of a process only.
	Image() any
	// Modules returns what it maps; IsLibC reports whether a module is the C library, or its dynamic loader, and
	// nothing else.
	Modules() []module.Loaded
	IsLibC(*module.Loaded) bool
	// Watch calls on, with the number of the system call, before a thread makes the call at a site of a module. It
	// returns false if the site cannot be watched. Watching it twice has no effect. Forked children, whose memory is a
	// copy, are watched too.
	Watch(m *module.Loaded, at Site, on func(tid int, number uint64)) bool
	// Unwatch ends all watching.
	Unwatch()
	// RecordPinned and ForgetPinned write and remove the record by which the masks are put back if the session is
	// killed.
	RecordPinned(former, given cpumask.Mask) bool
	ForgetPinned()
}

// Stats are what a Keeper has done.
type Stats struct {
	Together uint64 // stops that were handled while target and tracing thread shared a CPU
	Why      string // why they do not share one now, or did not; "" if they do, or did until the target ended
}

const (
	window = 250 * time.Millisecond

	busyRate  = 2000 // stops a second from which on a CPU is shared
	quietRate = 1000 // stops a second below which it is shared no longer
	windows   = 2    // how many successive windows decide
	callRate  = 1000 // system calls a second that may be watched in vain

	keeps      = 4  // windows after which a CPU is chosen again
	apartStops = 32 // stops that the kernel has to move target and tracing thread
	mostReads  = 3  // times that the program may read its CPUs
)

// tooRare is why a CPU is not shared where nothing else prevents it.
var tooRare = fmt.Sprintf("fewer than %d stops a second", busyRate)

// Keeper decides whether target and tracing thread share a CPU.
type Keeper struct {
	on    Session
	off   bool
	why   string
	total uint64 // stops together

	began uint64 // when the window began
	stops uint64 // in the window
	busy  int    // successive windows with many stops, while apart
	quiet int    // and with few, while together
	wait  int    // stops to go until a CPU is chosen again; 0: this is not the reason for being apart
	ticks bool   // a timer runs

	own    cpumask.Mask // restores the tracing thread's mask; nil: not known yet
	normal normal
	with   *pair // nil: apart
	last   pair  // the latest one

	image   image
	watched Target // whose system calls are watched; nil: none
	files   map[*module.File]*search
}

// normal is how the mask of a thread is restored.
type normal struct {
	tid          int
	mask, former cpumask.Mask
}

// pair is a target that shares a CPU with the tracing thread.
type pair struct {
	target        Target
	pid, tid      int
	former, given cpumask.Mask
	age           int // windows
}

// image is what is known of the image that the target runs.
type image struct {
	id      any
	refused string // why a CPU is never shared with it; "": it may be
	reads   int    // times that the program has read its CPUs
	calls   int    // system calls in the window that were watched in vain
}

// search is the result of searching a file for system calls.
type search struct {
	done  bool
	sites []Site
	err   error
}

// Init sets the session. enabled is false if a CPU must never be shared.
func (k *Keeper) Init(on Session, enabled bool) {
	k.on, k.off, k.why = on, !enabled, tooRare
	k.began, k.files = ptrace.Now(), map[*module.File]*search{}
	if !enabled {
		k.why = "--affinity off"
	}
}

// Stats returns what has been done until now.
func (k *Keeper) Stats() Stats { return Stats{k.total, k.why} }

// IsTogether reports whether target and tracing thread share a CPU now.
func (k *Keeper) IsTogether() bool { return k.with != nil }

// Stopped is called when a stop, which was reported at time came, has been handled.
func (k *Keeper) Stopped(came uint64) {
	if k.off {
		return
	}
	k.stops++
	switch {
	case k.with != nil:
		k.total++
	case k.wait > 0:
		if k.wait--; k.wait == 0 {
			k.join()
		}
	}
	if came > k.began && came-k.began >= uint64(window) {
		k.windowOver(came)
	}
}

// windowOver ends a window and begins the next.
func (k *Keeper) windowOver(now uint64) {
	rate := k.stops * uint64(time.Second) / max(now-k.began, 1)
	k.began, k.stops = now, 0
	if k.with != nil {
		k.review(rate)
	} else {
		k.consider(rate)
	}
	k.image.calls = 0
}

// consider joins the two if stops are frequent.
func (k *Keeper) consider(rate uint64) {
	if rate < busyRate {
		if k.wait > 0 {
			k.why = tooRare
		}
		k.busy, k.wait = 0, 0
		return
	}
	if k.busy++; k.busy == 1 {
		if t, why := k.on.Only(); why == "" {
			k.search(t)
		}
		return
	}
	if k.busy >= windows && k.wait == 0 {
		k.busy = 0
		k.join()
	}
}

// review separates the two if they should not be together any longer, and chooses another CPU from time to time.
func (k *Keeper) review(rate uint64) {
	p := k.with
	if k.quiet++; rate >= quietRate {
		k.quiet = 0
	}
	p.age++
	now, there := cpumask.Of(p.tid)
	_, why := k.on.Only()
	if why == "" {
		why = k.unfit(p.tid)
	}
	switch {
	case !there:
	case !now.Equal(p.given):
		k.refuse("its CPUs were changed by another process")
	case uint64(k.image.calls) > callRate*uint64(window)/uint64(time.Second):
		k.refuse("it makes system calls in a way that is expensive to watch")
	case why != "":
		k.Apart(why)
	case k.quiet >= windows:
		k.Apart(tooRare)
	case p.age >= keeps:
		k.Apart("")
		k.wait = apartStops
	}
}

// tick ends windows in which nothing stops.
func (k *Keeper) tick() {
	if k.ticks = k.with != nil; !k.ticks {
		return
	}
	if now := ptrace.Now(); now-k.began >= uint64(window) {
		k.windowOver(now)
	}
	k.on.After(window*3/2, k.tick)
}

// join joins the two, if the target is fit for it. It sets the reason if not.
func (k *Keeper) join() {
	t, why := k.on.Only()
	if why == "" {
		why = k.joinWith(t)
	}
	k.why = why
}

// joinWith joins the tracing thread with a target, or returns why it does not.
func (k *Keeper) joinWith(t Target) (why string) {
	if k.current(t); k.image.refused != "" {
		return k.image.refused
	}
	_, tid := t.IDs()
	if why = k.unfit(tid); why != "" {
		return why
	}
	mask, ours := masks(tid)
	switch {
	case mask == nil:
		return "the target has ended"
	case ours.Count() < 2:
		return "gotap may run on one CPU only"
	case !mask.Equal(ours):
		return fmt.Sprintf("the target may run on CPUs %s, gotap on %s", mask, ours)
	}
	if why = k.watch(t); why != "" {
		return why
	}
	return k.pin(t, mask)
}

// masks returns the masks of a thread and of this process; nil if they cannot be read. The first thread of this process
// is never the tracing thread.
func masks(tid int) (mask, ours cpumask.Mask) {
	mask, ok := cpumask.Of(tid)
	ours, known := cpumask.Of(os.Getpid())
	if !ok || !known {
		return nil, nil
	}
	return mask, ours
}

// unfit returns why a thread must not share the CPU of the tracing thread, as far as its own state goes.
func (k *Keeper) unfit(tid int) string {
	of, ok := procfs.ScheduleOf(tid)
	own, known := procfs.ScheduleOf(ptrace.Tid())
	ordinary := func(s procfs.Schedule) bool { return s.Policy == procfs.PolicyOther || s.Policy == procfs.PolicyBatch }
	switch filter := procfs.Status(tid, "Seccomp"); {
	case !ok || !known:
		return "the target has ended"
	case of.Threads != 1:
		return fmt.Sprintf("the target has %d threads", of.Threads)
	case !ordinary(of) || !ordinary(own):
		return "the target, or gotap, has a special scheduling class"
	case own.Nice > of.Nice:
		return "the target takes precedence over gotap (nice)"
	case filter != "" && filter != "0":
		return "the target has a filter of system calls"
	}
	return ""
}

// pin sets the masks of the target and of the tracing thread.
func (k *Keeper) pin(t Target, mask cpumask.Mask) (why string) {
	pid, tid := t.IDs()
	if err := k.learn(tid, mask); err != nil {
		return fmt.Sprintf("the CPUs of the target cannot be set: %v", err)
	}
	s, _ := procfs.ScheduleOf(tid)
	p := pair{target: t, pid: pid, tid: tid, former: k.normal.former, given: mask.Only(s.CPU)}
	if !mask.Has(s.CPU) || !t.RecordPinned(p.former, p.given) {
		return "its CPU cannot be recorded in the target"
	}
	k.with, k.last, k.quiet = &p, p, 0
	err := errors.Join(cpumask.Set(tid, p.given), cpumask.Set(ptrace.Tid(), p.given))
	now, _ := cpumask.Of(tid)
	own, _ := cpumask.Of(ptrace.Tid())
	if err != nil || !now.Equal(p.given) || !own.Equal(p.given) {
		k.separate()
		k.off = true
		return fmt.Sprintf("the kernel does not pin them to CPU %d: %v", s.CPU, err)
	}
	k.on.Together(true)
	if !k.ticks {
		k.ticks = true
		k.on.After(window*3/2, k.tick)
	}
	return ""
}

// learn finds out how the present masks of the target and the tracing thread are restored.
func (k *Keeper) learn(tid int, mask cpumask.Mask) (err error) {
	if k.normal.tid != tid || !k.normal.mask.Equal(mask) {
		former, err := cpumask.Neutral(tid, mask)
		if err != nil {
			return err
		}
		k.normal = normal{tid, mask, former}
	}
	if k.own == nil {
		now, _ := cpumask.Of(ptrace.Tid())
		k.own, err = cpumask.Neutral(ptrace.Tid(), now)
	}
	return err
}

// Apart separates the two, if they are together, and keeps them apart until stops have been frequent for some time. why
// says why.
func (k *Keeper) Apart(why string) {
	k.busy, k.wait = 0, 0
	if k.with != nil {
		k.separate()
		k.why = why
	}
}

// separate restores the masks.
func (k *Keeper) separate() {
	p := k.with
	k.with = nil
	k.on.Together(false)
	if err := cpumask.Set(ptrace.Tid(), k.own); err != nil {
		k.on.Warn(fmt.Sprintf("gotap cannot leave CPU %s: %v", p.given, err))
	}
	if err := p.restore(); err != nil && !errors.Is(err, syscall.ESRCH) {
		k.on.Warn(fmt.Sprintf("process %d stays on CPU %s: its CPUs cannot be set again: %v", p.pid, p.given, err))
		return // with the record
	}
	p.target.ForgetPinned()
}

// restore restores the target's mask. The mask that is in force stays if it is no longer the one that was set. Then
// somebody else has set it, or the CPU has left the target's cpuset, in which case the kernel still remembers our mask
// for the time when the CPU comes back, and must not.
func (p *pair) restore() error {
	now, ok := cpumask.Of(p.tid)
	switch {
	case !ok:
		return nil
	case now.Equal(p.given):
		return cpumask.Set(p.tid, p.former)
	}
	_, err := cpumask.Neutral(p.tid, now)
	return err
}

// refuse separates the two for as long as the target runs its present image.
func (k *Keeper) refuse(why string) {
	k.Apart(why)
	k.why, k.image.refused = why, why
	if k.watched != nil {
		k.watched.Unwatch()
		k.watched = nil
	}
}

// Added is called when the session gets to know a thread, before the thread runs. A thread that was created while its
// creator was together with the tracing thread has inherited the mask.
func (k *Keeper) Added(tid int) {
	if k.off || k.last.target == nil || tid == k.last.tid {
		return
	}
	k.Apart("a thread or child has just been created")
	now, ok := cpumask.Of(tid)
	if !ok || !now.Equal(k.last.given) {
		return
	}
	if creator, ok := cpumask.Of(k.last.tid); ok && creator.Equal(k.last.given) {
		return // the program has set it
	}
	if err := cpumask.Set(tid, k.last.former); err != nil && !errors.Is(err, syscall.ESRCH) {
		k.on.Warn(fmt.Sprintf("thread %d stays on CPU %s: its CPUs cannot be set again: %v", tid, k.last.given, err))
	}
}

// Gone is called when a thread has ended or is no longer traced.
func (k *Keeper) Gone(tid int) {
	if k.with != nil && k.with.tid == tid {
		k.separate()
	}
}

// End separates the two for good, at the end of the session.
func (k *Keeper) End() {
	if k.with != nil {
		k.separate()
	}
	k.off = true
}
