package remote

import (
	"errors"
	"fmt"

	"gotap/engine/backend"
	"gotap/engine/executor"
	"gotap/engine/history"
	"gotap/engine/image/module"
	"gotap/engine/locate"
	"gotap/engine/probes"
	"gotap/engine/registry/hit"
	"gotap/engine/remote/control"
	"gotap/engine/remote/memory"
	"gotap/engine/remote/rsp"
	"gotap/engine/report"
	"gotap/engine/semaphore"
	"gotap/engine/view/stopped"
	"gotap/engine/watchpoint"
)

// Config specifies how a session works, and to what it connects.
type Config struct {
	backend.Config
	Address string // HOST:PORT of the stub
	Exe     string // file with the program's or kernel's symbols; "": the file that the stub reports
	Patched func() // may be nil; called once, when the session is about to write breakpoints itself: see Clean
}

// Session traces one target through a stub. Its methods are those of backend.Session and may be called from any
// goroutine, but not from the callbacks of Config.
//
// The control's lock guards all parts below it.
type Session struct {
	*probes.Set

	cfg     Config
	control *control.Control
	places  *locate.Locator

	stub    stub
	mem     *memory.Memory
	program program
	loader  loader
	threads threads
	stops   stops
	points  breakpoints
	watches watchpoints
	calls   syscalls
	sems    semaphore.Counts // of marks
	runner  *hit.Runner
	report  reporter
	stats   backend.Stats
}

// errRemote is returned by methods of Session that no stub can serve.
var errRemote = errors.New("a stub traces one target, which is there before")

// Open connects to a stub and examines its target, which is stopped from now on.
func Open(cfg Config) (*Session, error) {
	cfg.Defaults()
	client, err := rsp.Dial(cfg.Address)
	if err != nil {
		return nil, dialError(cfg.Address, err)
	}
	s := newSession(cfg, client)
	if err := s.inspect(); err != nil {
		s.letGo()
		return nil, fmt.Errorf("cannot trace through %s: %w", cfg.Address, err)
	}
	go s.control.Run()
	return s, nil
}

// newSession connects the parts of a session, whose target has not been examined.
func newSession(cfg Config, client *rsp.Client) *Session {
	s := &Session{cfg: cfg, stub: stub{client: client}}
	s.stops = stops{s: s, retries: map[retry]bool{}}
	s.control = control.New(client, &s.stops)
	s.mem = memory.New(client, s.points.hide)
	names := history.New()
	s.program = program{stub: &s.stub, mem: s.mem, names: names, stacks: stopped.NewUnwinding(names), files: module.Cache{Fetch: s.cfg.Fetch}}
	s.loader = loader{s: s}
	s.threads = threads{stub: &s.stub, byName: map[string]*thread{}}
	s.points = breakpoints{stub: &s.stub, control: s.control, mem: s.mem, program: &s.program, cfg: &s.cfg, points: map[uint64]*point{}}
	s.points.executors = executor.List{&s.points}
	s.watches = watchpoints{stub: &s.stub, control: s.control, set: map[*watchpoint.Watch]bool{}}
	s.calls = syscalls{stub: &s.stub, control: s.control, threads: &s.threads}
	s.report = reporter{report.New(&s.cfg.Config), &s.threads}
	s.places = locate.New(host{&s.cfg, s}, &s.program.names.Files)
	s.Set = probes.New(tracer{s}, s.places, &s.cfg.Config)
	s.runner = hit.NewRunner(cfg.Arena, cfg.Facilities)
	s.runner.Tell(cfg.Changed)
	s.runner.Warn(cfg.Warn)
	return s
}

// letGo ends a connection with a target that has not been touched. A stub that names processes requires the name,
// and ends the program that it has started unless the session detaches from it.
func (s *Session) letGo() {
	stop, _ := s.stub.client.Why()
	s.stub.client.Detach(stop.Thread) // its answer no longer matters
	s.stub.client.Close()
}

// held runs fn with the target stopped, where its memory can be read, and the lock held.
func (s *Session) held(fn func() error) error {
	return s.control.WhileStopped(func() error {
		if err := s.enterKernel(); err != nil {
			return err
		}
		return fn()
	})
}

// Spawn is refused: a stub has its program already.
func (s *Session) Spawn(backend.Command) (int, error) {
	return 0, fmt.Errorf("cannot launch a program: %w", errRemote)
}

// Settle is refused as Spawn is.
func (s *Session) Settle(int) error { return fmt.Errorf("cannot launch a program: %w", errRemote) }

// Attach is refused: the connection is the attachment.
func (s *Session) Attach(int) error {
	return fmt.Errorf("cannot attach to a process: %w", errRemote)
}

// Start resumes the target.
func (s *Session) Start() error { return s.control.Start() }

// Wait blocks until the target has ended or the session is closed, and returns the error that ended it, if any.
func (s *Session) Wait() error { return s.control.Wait() }

// Done returns a channel that is closed when the target has ended or the session is over.
func (s *Session) Done() <-chan struct{} { return s.control.Done() }

// Release resumes the target that a program held with ExitHold.
func (s *Session) Release(ticket uint32) { s.control.Release(ticket) }

// Stats returns the counters.
func (s *Session) Stats() backend.Stats {
	s.control.Lock()
	defer s.control.Unlock()
	st := s.stats
	st.Attached, st.Points = len(s.threads.byName), s.points.armed
	st.Apart = "the target is behind a stub"
	return st
}

// Pids returns the traced process, by the number of its first thread; nothing for a kernel.
func (s *Session) Pids() []int {
	s.control.Lock()
	defer s.control.Unlock()
	if s.stub.kernel || s.control.Ended() {
		return nil
	}
	return []int{s.threads.pid()}
}

// Close removes all breakpoints and detaches from the target. If now is set, it does not wait for a target that
// does not stop. The error reports what could not be restored.
func (s *Session) Close(now bool) error {
	if err := s.control.Close(now, s.restore); err != nil {
		return fmt.Errorf("cannot put everything back through %s: %w", s.cfg.Address, err)
	}
	return nil
}

// restore undoes all changes and detaches.
func (s *Session) restore() error {
	all := errors.Join(s.points.syncAll(), s.watches.sync(), s.ClearAllMarks(), s.calls.sync())
	if err := s.stub.client.Detach(s.threads.last.name); err != nil {
		all = errors.Join(all, fmt.Errorf("cannot detach: %w", err))
	}
	return all
}
