package engine

import (
	"slices"
	"strings"
	"syscall"
	"time"

	"gotap/engine/affinity"
	"gotap/engine/crashsafe"
	"gotap/engine/emulation"
	"gotap/engine/executor"
	"gotap/engine/history"
	"gotap/engine/linux/procfs"
	"gotap/engine/linux/ptrace"
	"gotap/engine/locate"
	"gotap/engine/probes"
	"gotap/engine/registry/hit"
	"gotap/engine/report"
	"gotap/engine/sampling"
	"gotap/engine/space"
	"gotap/engine/stepping"
	"gotap/engine/syscallprobe"
	"gotap/engine/threadstate"
	"gotap/engine/throttle"
	"gotap/engine/tracee"
	"gotap/engine/tracingthread"
	"gotap/engine/trampoline"
	"gotap/engine/view"
)

// Session traces any number of processes. Any goroutine may call its methods, except from within the callbacks it was
// given, which run on the tracing thread. Methods that request an action return when it is done.
type Session struct {
	*probes.Set

	cfg    Config
	loop   *tracingthread.Thread
	life   lifecycle
	names  *history.History // what is kept of processes for naming addresses; has a lock of its own
	places *locate.Locator

	// All fields below belong to the tracing thread, and so do the parts, but for what lifecycle says of its own.

	traced
	processor
	runner *hit.Runner
	report *report.Reporter
	stats  Stats

	stops     stops
	world     stopWorld
	patcher   *space.Patcher
	natives   trampoline.Executor
	others    otherProbes
	sampler   sampling.Sampler
	images    *view.Images
	loading   loading
	launching launching
	arrivals  arrivals
	guards    crashsafe.Guards
	throttle  throttle.Throttle
	affinity  affinity.Keeper

	testAt func(tracee.Moment) // for tests: called where a session that is killed must leave its target unharmed
}

// New starts a session. Nothing is traced yet.
func New(cfg Config) (*Session, error) {
	if err := procfs.Check(); err != nil {
		return nil, err
	}
	cfg.Defaults()
	s := &Session{
		cfg: cfg, loop: tracingthread.New(), names: history.New(), processor: processor{emulation.NewKeys(), stepping.NewShadows()},
		traced: traced{threads: map[int]*thread{}, procs: map[int]*process{}, tickets: map[uint32]*thread{}},
	}
	s.report = report.New(&s.cfg)
	s.makeParts()
	s.life.done = make(chan struct{})
	s.arrivals.children.early = map[int]earlyStop{}
	s.images = view.NewImages(s.names)
	s.throttle.Init(throttleHost{s}, cfg.Budget)
	s.affinity.Init(affinityHost{s}, cfg.Affinity == AffinityAuto)
	s.places = locate.New(host{&s.cfg, s}, &s.names.Files)
	s.Set = probes.New(tracer{s}, s.places, &s.cfg)
	s.others.calls = syscallprobe.Probes{Conventions: conventions(), Globals: s.globals()}
	s.runner = hit.NewRunner(cfg.Arena, cfg.Facilities)
	s.runner.Tell(cfg.Changed)
	s.runner.Warn(cfg.Warn)
	s.arrivals.reserve.Fill(reserveSize)
	s.loop.Start(s.run)
	return s, nil
}

// makeParts connects the parts with their session.
func (s *Session) makeParts() {
	s.patcher = space.NewPatcher(patchHost{s}, space.Settings{Strategy: s.cfg.Engine, MaxPoints: s.cfg.MaxProbes, Jumps: &s.natives})
	s.natives.Init(nativeHost{s}, s.patcher, trampoline.Settings{
		Strategy: s.cfg.Engine, Arena: s.cfg.Arena, Budget: s.cfg.Budget, Explain: s.cfg.Explain, Stats: &s.stats,
	})
	if s.natives.Inlines() {
		s.patcher.Executors = executor.List{&s.natives, s.patcher.Breakpoints()}
	}
	s.life.s, s.stops.s, s.world.s, s.others.s = s, s, s, s
	s.loading.s, s.launching.s, s.arrivals.s = s, s, s
	s.loading.modules.Fetch = s.cfg.Fetch
	s.sampler.Init(sampleHost{s})
	s.guards.Init(sessionHost{s})
}

// do runs fn on the tracing thread.
func (s *Session) do(fn func() error) error {
	var err error
	if e := s.loop.Do(func() { err = fn() }); e != nil {
		return s.gone(e)
	}
	return err
}

// gone returns the reason why the tracing thread does not answer.
func (s *Session) gone(err error) error {
	if f := s.life.failure.Load(); f != nil {
		return f.err
	}
	return err
}

// Wait blocks until no process is left or the session is closed. It returns the error that ended the tracing thread.
func (s *Session) Wait() error {
	select {
	case <-s.life.done:
	case <-s.loop.Dead():
	}
	if f := s.life.failure.Load(); f != nil {
		return f.err
	}
	return nil
}

// Done returns a channel that is closed when no process is left or the session is over.
func (s *Session) Done() <-chan struct{} { return s.life.done }

// over signals to all waiters that the session is over.
func (l *lifecycle) over() {
	l.once.Do(func() {
		if l.s.natives.Used() {
			l.s.cfg.Arena.SkipUnfinished() // nobody waits for a record that a target might still finish
		}
		close(l.done)
	})
}

// Start lets the launched targets run. Processes that were attached to were never stopped.
func (s *Session) Start() error {
	return s.do(func() error {
		s.life.started = true
		s.DropBegun()
		s.throttle.Restart()
		s.sampler.Sync()
		for _, t := range s.threads {
			if t.state.Now() == threadstate.Parked {
				t.state.To(threadstate.Stopped)
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
	if last := s.life.lastStats.Load(); err != nil && last != nil {
		return *last // as of the end of the session
	}
	return st
}

// present returns the current counters.
func (s *Session) present() Stats {
	st := s.stats
	st.Attached, st.Points = len(s.threads), s.patcher.Points
	kept := s.throttle.Stats()
	st.Kept, st.Rests, st.Disabled = kept.Kept, kept.Rests, kept.Disabled
	shared := s.affinity.Stats()
	st.Together, st.Apart = shared.Together, shared.Why
	return st
}

// Pids lists the processes being traced.
func (s *Session) Pids() []int {
	var pids []int
	s.do(func() error {
		for _, p := range s.probed() {
			pids = append(pids, p.pid)
		}
		return nil
	})
	return pids
}

// LeftStopped reports whether a program has stopped a process for a debugger (exit.stop) and the process is still
// stopped. It may be called after Close. A thread that was just detached may not have received the signal yet. So while
// a thread runs or the signal is pending, LeftStopped waits, for a second at most.
func (s *Session) LeftStopped(pid int) bool {
	if _, stopped := s.life.leftStopped.Load(pid); !stopped {
		return false
	}
	isUnderWay := func(tid int) bool {
		return procfs.SignalSet(tid, "SigPnd")>>(ptrace.SIGSTOP-1)&1 != 0 || strings.HasPrefix(procfs.Status(tid, "State"), "R")
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
func (s *Session) warn(text string) { s.report.Warn(text) }

// warnOf warns the user of an error, if there is one.
func (s *Session) warnOf(err error) { s.report.WarnOf(err) }

// notify reports an event.
func (s *Session) notify(e Event) { s.report.Notify(e) }

// checkDone ends the session when its last process has ended.
func (s *Session) checkDone() {
	if len(s.probed()) > 0 {
		return
	}
	if s.life.sawOne && s.life.started {
		s.life.sawOne = false
		s.notify(Event{Kind: EventDone})
		s.life.over()
	}
}

// vanished reports whether a request failed because the tracee was killed.
func vanished(e syscall.Errno) bool { return e == syscall.ESRCH }
