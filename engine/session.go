package engine

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"gotap/engine/abi"
	"gotap/engine/history"
	"gotap/engine/image/module"
	"gotap/engine/image/unwind"
	"gotap/engine/linux/hostcpu"
	"gotap/engine/linux/procfs"
	"gotap/engine/linux/ptrace"
	"gotap/engine/locate"
	"gotap/engine/probes"
	"gotap/engine/registry/hit"
)

// Session traces any number of processes. Any goroutine may call its methods, except from within the callbacks it was
// given, which run on the tracing thread. Methods that request an action return when it is done.
type Session struct {
	*probes.Set

	cfg     Config
	loop    *loop
	modules module.Cache
	failure atomic.Pointer[failure]
	done    chan struct{} // closed when no process is left, or at Close
	once    sync.Once

	leftStopped sync.Map // IDs of processes that programs have stopped for a debugger

	names *history.History // what is kept of processes for naming addresses; has a lock of its own

	places *locate.Locator

	lastStats atomic.Pointer[Stats] // what Stats returns after the end

	// All fields below belong to the tracing thread.

	threads     map[int]*thread
	procs       map[int]*process
	paused      []*thread // held while code is written
	backlog     []stop    // stops that came while all threads were held, to be handled in order
	status      ptrace.Status
	special     ptrace.Status
	runner      *hit.Runner
	walkers     map[*abi.ABI]*unwind.Walker
	tables      map[*module.File]*unwind.Table
	vdsos       map[*abi.ABI]*module.File
	signalCalls map[*module.File]signalSites

	points     int    // armed probe points
	batch      *batch // nil: points are planted one by one
	callPoints int    // points on system call instructions
	calls      callProbes
	sysnames   int  // enabled probes on system calls
	watching   int  // watchpoints
	marks      bool // there are probes on marks with semaphores

	keyRights []byte             // buffer for a thread's saved state: see keys.go; nil if there are no protection keys
	hasShadow func(tid int) bool // see shadow.go; nil if no thread has a shadow stack

	tickets     map[uint32]*thread // held threads
	settling    settle
	started     bool
	closing     bool
	undoes      bool  // the session only undoes what an earlier one left: it plants nothing
	halted      []int // threads that were in a job-control stop when the session ended
	closed      bool
	undone      error        // what could not be undone, once the session is closed
	sawOne      bool         // there was a process
	inPlaceOnly bool         // for tests: nothing is emulated or stepped out of line
	testAt      func(moment) // for tests: called where a session that is killed must leave its target unharmed
	warned      map[string]bool
	meter       meter
	stats       Stats
	reserve     reserve
	children    children
}

// stop is a stop of a thread that has not been handled.
type stop struct {
	tid    int
	status ptrace.Status
}

// New starts a session. Nothing is traced yet.
func New(cfg Config) (*Session, error) {
	if err := procfs.Check(); err != nil {
		return nil, err
	}
	cfg.Defaults()
	s := &Session{
		cfg: cfg, loop: newLoop(), done: make(chan struct{}), names: history.New(),
		threads: map[int]*thread{}, procs: map[int]*process{}, children: children{early: map[int]earlyStop{}},
		tickets: map[uint32]*thread{},
		warned:  map[string]bool{}, walkers: map[*abi.ABI]*unwind.Walker{}, tables: map[*module.File]*unwind.Table{},
		vdsos:     map[*abi.ABI]*module.File{},
		keyRights: newKeyRights(),
	}
	if hostcpu.HasShadowStacks() {
		s.hasShadow = hasShadowStack
	}
	s.meter = newMeter(cfg.Budget)
	s.places = locate.New(host{s}, &s.names.Files)
	s.Set = probes.New(tracer{s}, s.places, &s.cfg)
	s.runner = hit.NewRunner(cfg.Arena, cfg.Facilities)
	s.runner.Tell(cfg.Changed)
	s.reserve.fill()
	s.loop.start(s.run)
	return s, nil
}

// do runs fn on the tracing thread.
func (s *Session) do(fn func() error) error {
	var err error
	if e := s.loop.do(func() { err = fn() }); e != nil {
		return s.gone(e)
	}
	return err
}

// gone returns the reason why the tracing thread does not answer.
func (s *Session) gone(err error) error {
	if f := s.failure.Load(); f != nil {
		return f.err
	}
	return err
}

// Wait blocks until no process is left or the session is closed. It returns the error that ended the tracing thread, if
// any.
func (s *Session) Wait() error {
	select {
	case <-s.done:
	case <-s.loop.dead:
	}
	if f := s.failure.Load(); f != nil {
		return f.err
	}
	return nil
}

// Done returns a channel that is closed when no process is left or the session is over.
func (s *Session) Done() <-chan struct{} { return s.done }

// over signals to all waiters that the session is over.
func (s *Session) over() { s.once.Do(func() { close(s.done) }) }

// Start lets the launched targets run. Processes that were attached to were never stopped.
func (s *Session) Start() error {
	return s.do(func() error {
		s.started = true
		s.DropBegun()
		s.meter.restart()
		for _, t := range s.threads {
			if t.parked {
				t.parked = false
				t.resume(0)
			}
		}
		s.checkDone()
		return nil
	})
}

// Release releases a thread that a program held with ExitHold. It ignores unknown tickets: the thread may have been
// killed.
func (s *Session) Release(ticket uint32) {
	s.do(func() error {
		if t := s.tickets[ticket]; t != nil {
			t.release()
		}
		return nil
	})
}

// Stats returns the counters.
func (s *Session) Stats() Stats {
	var st Stats
	err := s.do(func() error {
		st = s.present()
		return nil
	})
	if last := s.lastStats.Load(); err != nil && last != nil {
		return *last // as of the end of the session
	}
	return st
}

// present returns the current counters.
func (s *Session) present() Stats {
	st := s.stats
	st.Attached, st.Points = len(s.threads), s.points
	st.Kept += s.meter.kept
	return st
}

// Pids lists the processes being traced.
func (s *Session) Pids() []int {
	var pids []int
	s.do(func() error {
		for pid, p := range s.procs {
			if !p.silent {
				pids = append(pids, pid)
			}
		}
		return nil
	})
	return pids
}

// LeftStopped reports whether a program has stopped a process for a debugger (exit.stop) and the process is still
// stopped. It may be called after Close. A thread that was just detached may not have received the signal yet. So while
// a thread runs or the signal is pending, LeftStopped waits, for a second at most.
func (s *Session) LeftStopped(pid int) bool {
	if _, stopped := s.leftStopped.Load(pid); !stopped {
		return false
	}
	isUnderWay := func(tid int) bool {
		return hexField(tid, "SigPnd")>>(ptrace.SIGSTOP-1)&1 != 0 || strings.HasPrefix(procfs.Status(tid, "State"), "R")
	}
	for end := time.Now().Add(haltPatience); ; time.Sleep(time.Millisecond) {
		if strings.HasPrefix(strings.ToUpper(procfs.Status(pid, "State")), "T") {
			return true
		}
		if !slices.ContainsFunc(procfs.Threads(pid), isUnderWay) || time.Now().After(end) {
			return false
		}
	}
}

// warn reports a warning to the user, once.
func (s *Session) warn(text string) {
	if s.cfg.Warn != nil && !s.warned[text] {
		s.warned[text] = true
		s.cfg.Warn(text)
	}
}

// warnOf warns the user of an error, if there is one.
func (s *Session) warnOf(err error) {
	if err != nil {
		s.warn(err.Error())
	}
}

// notify reports an event.
func (s *Session) notify(e Event) {
	if s.cfg.Notify == nil {
		return
	}
	e.Time = ptrace.Now()
	s.cfg.Notify(e)
}

// checkDone ends the session when its last process has ended.
func (s *Session) checkDone() {
	for _, p := range s.procs {
		if !p.silent {
			return
		}
	}
	if s.sawOne && s.started {
		s.sawOne = false
		s.notify(Event{Kind: EventDone})
		s.over()
	}
}

// vanished reports whether a request failed because the tracee was killed.
func vanished(e syscall.Errno) bool { return e == syscall.ESRCH }
