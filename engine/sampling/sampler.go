package sampling

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"gotap/arch"
	"gotap/engine/linux/procfs"
	"gotap/engine/linux/ptrace"
	"gotap/engine/place"
	"gotap/engine/registry"
)

// Sampler takes samples of all threads. For each probe that samples it looks at the threads once in a period: those
// that run are asked to stop, and their samples are taken when they do (Stopped), so that nothing waits for a thread
// which waits for a processor.
//
// A thread that sleeps keeps its system call. By processor time it has no samples before it runs again. By the clock
// its registers are those of the first look at the same sleep, for which it is stopped once, unless the call would
// notice that (abi.CallTable.GoesOnExactly): then only the program counter and the stack pointer are known, which
// /proc/TID/syscall has.
type Sampler struct {
	on  Host
	all []*samples
}

// samples are those of one probe.
type samples struct {
	on       Host
	pr       *registry.Probe
	period   time.Duration
	wall     bool
	code     map[arch.Arch]*registry.Placement // by the registers that programs may name
	threads  map[*Thread]*sampled
	schedule Schedule
	begun    bool          // the threads that were there at the beginning are known
	waiting  bool          // for the next look
	busy     time.Duration // since the look before
}

// sampled is one thread of one probe that samples.
type sampled struct {
	asked  bool      // its next stop is a sample
	credit Credit    // of processor time
	sleep  string    // /proc/TID/syscall of the sleep that it was stopped in
	regs   arch.Regs // as of then
}

// Add adds the samples of a probe.
func (x *Sampler) Add(pr *registry.Probe, spec place.Spec) error {
	m := &samples{on: x.on, pr: pr, period: spec.Period, wall: spec.Wall, code: map[arch.Arch]*registry.Placement{}, threads: map[*Thread]*sampled{}}
	if !m.wall && !procfs.CountsRunTime() {
		return &place.RefusedError{Place: spec.String(), Reason: "this kernel does not tell how long threads have run: /proc/PID/schedstat is missing",
			Help: `on: "wall" needs no such clock`}
	}
	for _, c := range x.on.Conventions() {
		if m.code[c.Regs] != nil {
			continue
		}
		code, err := pr.Spec.Compile(x.on.Info(spec.String(), c.Regs))
		if err == nil {
			err = code.Fits(spec)
		}
		if err != nil {
			return err
		}
		m.code[c.Regs] = &registry.Placement{Probe: pr, Code: code, Sample: true}
	}
	x.all = append(x.all, m)
	return nil
}

// Drop removes the samples of a probe.
func (x *Sampler) Drop(pr *registry.Probe) {
	x.all = slices.DeleteFunc(x.all, func(m *samples) bool {
		if m.pr == pr {
			for t := range m.threads {
				m.forget(t)
			}
		}
		return m.pr == pr
	})
}

// Count counts the samples of a probe.
func (x *Sampler) Count(pr *registry.Probe) (n int) {
	for _, m := range x.all {
		if m.pr == pr {
			n++
		}
	}
	return n
}

// Forget is called when a thread has ended.
func (x *Sampler) Forget(t *Thread) {
	for _, m := range x.all {
		m.forget(t)
	}
}

func (m *samples) forget(t *Thread) {
	delete(m.threads, t)
}

// Sync begins to take the samples of probes that are armed. Those of others end with their next look.
func (x *Sampler) Sync() {
	for _, m := range x.all {
		if !m.waiting && m.wanted() {
			m.begun, m.busy = false, 0
			for t := range m.threads {
				m.forget(t)
			}
			m.schedule = NewSchedule(m.period, ptrace.Now())
			m.lookAgain()
		}
	}
}

// wanted reports whether the samples are to be taken.
func (m *samples) wanted() bool {
	return m.pr.Armed() && m.on.Samples()
}

// lookAgain has the threads looked at when the schedule says so.
func (m *samples) lookAgain() {
	m.waiting = true
	m.on.After(m.schedule.Wait(ptrace.Now()), func() {
		m.waiting = false
		if m.wanted() {
			m.lookAtAll()
			m.lookAgain()
		}
	})
}

// lookAtAll looks at all threads, unless probes rest for the sake of the budget.
func (m *samples) lookAtAll() {
	began := ptrace.ThreadTime()
	if m.on.Resting() {
		m.pr.Samples.Skipped++
	} else {
		for t := range m.on.Threads() {
			if t.on.MayLook() {
				m.look(t)
			}
		}
		m.begun = true
	}
	m.took(began, 0)
	m.pr.Samples.Skipped += m.schedule.Looked(ptrace.Now(), uint64(m.busy))
	m.busy = 0
}

// took counts the processor time that samples take: since a time of this thread, and a constant.
func (m *samples) took(began uint64, more time.Duration) {
	more += time.Duration(ptrace.ThreadTime() - began)
	m.busy += more
	m.pr.Samples.Spent += more
}

// look looks at a thread that is not stopped.
func (m *samples) look(t *Thread) {
	of := m.threads[t]
	if of == nil {
		of = &sampled{}
		m.threads[t] = of
	}
	if m.wall {
		m.lookByClock(t, of)
	} else {
		m.lookByTime(t, of)
	}
}

// lookByTime samples a thread that has run for a period and runs.
func (m *samples) lookByTime(t *Thread, of *sampled) {
	ran, ok := t.view.RunTime()
	switch {
	case !ok:
		return
	case of.credit == Credit{} && !m.begun: // what it did before is not sampled
		of.credit = NewCredit(m.period, ran)
	case of.credit == Credit{}:
		of.credit = NewCredit(m.period, 0)
	}
	for range of.credit.Ran(ran) {
		m.pr.Miss()
	}
	if of.credit.Due() && procfs.Read(t.Tid, "syscall") == runningCall {
		of.ask(t)
	}
}

// runningCall is what /proc/TID/syscall has of a thread that runs, or waits for a processor.
const runningCall = "running\n"

// lookByClock samples a thread that runs or sleeps.
func (m *samples) lookByClock(t *Thread, of *sampled) {
	if of.asked { // it has not stopped since the look before
		m.pr.Miss()
	}
	text := procfs.Read(t.Tid, "syscall")
	call := strings.Fields(text)
	switch {
	case text == runningCall:
		of.sleep = ""
		of.ask(t)
	case len(call) < 3: // it has ended
	case text == of.sleep:
		t.Regs = of.regs
		m.take(t)
	case t.view.Space.ABI.Calls.GoesOnExactly(call) && strings.HasPrefix(t.Status("State"), "S"):
		of.sleep = text
		of.ask(t)
	default:
		m.takeAsleep(t, call)
	}
}

// takeAsleep takes the sample of a thread that sleeps and is not to be stopped.
func (m *samples) takeAsleep(t *Thread, call []string) {
	sp, err := strconv.ParseUint(call[len(call)-2], 0, 64)
	pc, err2 := strconv.ParseUint(call[len(call)-1], 0, 64)
	if err != nil || err2 != nil {
		m.pr.Miss()
		return
	}
	t.Regs = arch.Regs{}
	t.Regs[t.view.Space.ABI.SP()], *t.PC() = sp, pc
	m.take(t)
}

// ask asks a thread to stop. One that has ended is reported soon.
func (of *sampled) ask(t *Thread) { of.asked = ptrace.Interrupt(t.Tid) == 0 }

// Stopped is called when a thread is in a stop that may be the one it was asked for. Its registers can be read.
func (x *Sampler) Stopped(t *Thread) {
	for _, m := range x.all {
		of := m.threads[t]
		if of == nil || !of.asked {
			continue
		}
		of.asked = false
		if !m.wanted() {
			continue
		}
		began := ptrace.ThreadTime()
		if m.takeStopped(t, of) {
			of.credit.Sampled()
		} else {
			m.pr.Miss()
		}
		m.took(began, switching)
	}
}

// switching is about what a stop takes in addition to what the session sees of it: two switches between the thread and
// the session.
const switching = 15 * time.Microsecond

// takeStopped takes the sample of a thread that is stopped. It returns false if the thread is in code that the session
// has put there, or is about to report that it has hit a breakpoint.
func (m *samples) takeStopped(t *Thread, of *sampled) bool {
	if len(t.view.Space.ByAddr) > 0 && t.RaisedTrap() || !t.GetRegs() || t.native.InStub() {
		of.sleep = ""
		return false
	}
	of.regs = t.Regs
	m.take(t)
	return true
}

// take runs the program. The registers are those of the moment that is sampled; they are not written.
func (m *samples) take(t *Thread) {
	pl := m.code[t.view.Space.ABI.Names]
	from := 0
	if t.on.HasPosts() { // programs wait for the end of the call
		from = t.hit.Len()
	} else {
		t.hit.Begin(t.view.Space.ABI.WordSize())
	}
	t.view.Begin(nil)
	if !t.hit.Wanted(pl) || !t.hit.Admit(pl.Probe) {
		return
	}
	t.hit.Start(pl, pl.Code.Enter, t.hit.Alloc(pl), 0, true).Leave = true // nothing runs after it
	t.hit.CommitFrom(from)
}
