package remote

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"gotap/engine/backend"
	"gotap/engine/history"
	"gotap/engine/image/module"
	"gotap/engine/image/unwind"
	"gotap/engine/isa"
	"gotap/engine/linux/ptrace"
	"gotap/engine/locate"
	"gotap/engine/probes"
	"gotap/engine/registry/hit"
	"gotap/engine/registry/retprobe"
	"gotap/engine/remote/rsp"
	"gotap/engine/semaphore"
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
type Session struct {
	*probes.Set

	cfg     Config
	isa     *stubISA
	bound   *binding
	client  *rsp.Client
	modules module.Cache     // the files
	names   *history.History // for naming addresses; has a lock of its own
	places  *locate.Locator
	done    chan struct{} // closed when the target has ended, or at Close
	once    sync.Once

	mu      sync.Mutex // guards all below, and the target while it is stopped
	turn    *sync.Cond // of mu: the target has stopped, resumed or ended
	running bool       // the target runs; only run uses the client then
	wanted  int        // number of calls that want it stopped
	started bool
	closing bool
	ended   bool      // nothing is left to trace
	failure error     // what ended the session, if it was not the target
	asked   time.Time // when the stub was last asked for a stop; zero once the stop has come

	runner *hit.Runner
	mem    memory
	walker *unwind.Walker
	kernel bool            // the target is a machine, whose threads are its processors
	signs  bool            // pointers are signed there, or it is not known
	mods   []module.Loaded // the program first
	loader loaderWatch
	comm   string

	threads map[string]*thread
	tasks   retprobe.List // calls that a kernel's tasks are in: its stacks are not those of the processors
	points  map[uint64]*point
	runs    isa.Exclusives // of the code that is there now
	armed   int            // number of points that probes asked for
	watches []*watch
	calls   []callProbe
	caught  []int            // system calls that the stub reports, in ascending order
	sems    semaphore.Counts // of marks
	patch   bool             // the stub sets no breakpoints itself
	behind  bool             // the stub shows the program counter behind breakpoints
	spTaken bool             // the stub accepts a changed stack pointer
	spKept  bool             // the stub does not; neither is set until that is known
	lifted  bool             // all breakpoints are removed while a child uses the target's memory
	redo    map[redo]bool
	strays  int // consecutive stops that were not at a point
	queried bool
	qemu    bool // the stub is QEMU's; valid once queried

	tickets map[uint32]*thread
	signal  rsp.Action // the signal for the thread that stopped last
	warned  map[string]bool
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
	s := &Session{cfg: cfg, client: client, done: make(chan struct{}), names: history.New(), threads: map[string]*thread{},
		points: map[uint64]*point{}, tickets: map[uint32]*thread{}, warned: map[string]bool{},
		redo: map[redo]bool{}}
	s.turn = sync.NewCond(&s.mu)
	s.mem.s = s
	s.places = locate.New(host{s}, &s.names.Files)
	s.Set = probes.New(tracer{s}, s.places, &s.cfg.Config)
	s.runner = hit.NewRunner(cfg.Arena, cfg.Facilities)
	s.runner.Tell(cfg.Changed)
	if err := s.inspect(); err != nil {
		s.letGo()
		return nil, fmt.Errorf("cannot trace through %s: %w", cfg.Address, err)
	}
	go s.run()
	return s, nil
}

// letGo ends a connection with a target that has not been touched. A stub that names processes requires the name,
// and ends the program that it has started unless the session detaches from it.
func (s *Session) letGo() {
	stop, _ := s.client.Why()
	s.client.Detach(stop.Thread) // its answer no longer matters
	s.client.Close()
}

// run is the goroutine that waits for stops and handles them.
func (s *Session) run() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		for !s.running && !s.ended {
			s.turn.Wait()
		}
		if s.ended {
			return
		}
		s.mu.Unlock()
		stop, _, err := s.client.WaitStop(0, nil)
		s.mu.Lock()
		s.running = false
		if err == nil {
			err = s.stopped(stop)
		}
		if err == nil {
			err = s.settle()
		}
		if err != nil {
			s.fail(err)
		}
		s.turn.Broadcast()
	}
}

// fail ends the session for a reason.
func (s *Session) fail(err error) {
	if errors.Is(err, rsp.ErrNotStopped) {
		err = fmt.Errorf("%w: %s", err, oneAtATime)
	}
	if s.failure == nil && !s.ended && !s.closing {
		s.failure = fmt.Errorf("cannot go on tracing through %s: %w", s.cfg.Address, err)
	}
	s.over()
}

// oneAtATime explains what several threads mean for a stub that does not stop them together.
const oneAtATime = "through QEMU's user emulation a program can be traced as long as one thread at a time runs into probes; when two do, it is lost"

// over notifies everyone who waits that the session is over.
func (s *Session) over() {
	s.ended = true
	s.once.Do(func() { close(s.done) })
	s.turn.Broadcast()
}

// settle resumes the target unless some caller wants it stopped.
func (s *Session) settle() error {
	if s.running || s.ended || !s.started || s.wanted > 0 || len(s.tickets) > 0 {
		return nil
	}
	if err := s.resume(); err != nil {
		return err
	}
	s.running = true
	s.turn.Broadcast()
	return nil
}

// resume resumes all threads, with the signal that is due.
func (s *Session) resume() error {
	if s.lifted {
		return s.client.Resume(rsp.Action{Thread: s.mem.thread.name})
	}
	act := s.signal
	s.signal = rsp.Action{}
	if act.Signal == 0 {
		return s.client.Resume(rsp.Action{})
	}
	return s.client.Resume(act, rsp.Action{})
}

// gone returns the reason why there is nothing left to trace.
func (s *Session) gone() error {
	if s.failure != nil {
		return s.failure
	}
	return errEnded
}

var errEnded = errors.New("the target has ended")

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
func (s *Session) Start() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.started = true
	if s.ended {
		return s.gone()
	}
	return s.settle()
}

// Wait blocks until the target has ended or the session is closed, and returns the error that ended it, if any.
func (s *Session) Wait() error {
	<-s.done
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failure
}

// Done returns a channel that is closed when the target has ended or the session is over.
func (s *Session) Done() <-chan struct{} { return s.done }

// Release resumes the target that a program held with ExitHold.
func (s *Session) Release(ticket uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.tickets, ticket)
	if err := s.settle(); err != nil {
		s.fail(err)
	}
}

// Stats returns the counters.
func (s *Session) Stats() backend.Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.stats
	st.Attached, st.Points = len(s.threads), s.armed
	return st
}

// Pids returns the traced process, by the number of its first thread; nothing for a kernel.
func (s *Session) Pids() []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kernel || s.ended {
		return nil
	}
	return []int{s.pid()}
}

// Close removes all breakpoints and detaches from the target. If now is set, it does not wait for a target that
// does not stop. The error reports what could not be restored.
func (s *Session) Close(now bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closing = true
	clear(s.tickets)
	s.wanted++
	var err error
	if now && s.asksInVain() {
		err = errLeftRunning
	} else if !s.ended {
		if err = s.halt(); err == nil {
			err = s.awaitInterrupt()
		}
		if err == nil {
			err = s.restore()
		} else if errors.Is(err, errEnded) {
			err = nil
		}
	}
	if err != nil {
		err = fmt.Errorf("cannot put everything back through %s: %w", s.cfg.Address, err)
	}
	s.over()
	s.client.Close()
	return err
}

// goOn runs the target to its next stop although some caller wants it stopped.
func (s *Session) goOn() error {
	wanted := s.wanted
	s.wanted = 0
	clear(s.tickets)
	err := s.settle()
	s.wanted = wanted
	return err
}

// restore undoes all changes and detaches.
func (s *Session) restore() error {
	var all error
	for _, p := range s.points {
		all = errors.Join(all, s.sync(p))
	}
	all = errors.Join(all, s.syncWatches(), s.syncSemaphores(), s.syncCalls())
	if err := s.client.Detach(s.mem.thread.name); err != nil {
		all = errors.Join(all, fmt.Errorf("cannot detach: %w", err))
	}
	return all
}

// warn warns the user of something, once.
func (s *Session) warn(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if s.cfg.Warn != nil && !s.warned[text] {
		s.warned[text] = true
		s.cfg.Warn(text)
	}
}

// notify reports an event.
func (s *Session) notify(e backend.Event) {
	if s.cfg.Notify == nil {
		return
	}
	e.Time, e.Pid = ptrace.Now(), s.pid()
	s.cfg.Notify(e)
}

// threadOf returns the thread of a stop, with its registers.
func (s *Session) threadOf(name string) (*thread, error) {
	if name == "" {
		if name = s.client.Current(); name == "" {
			name = "1"
		}
	}
	t := s.threads[name]
	if t == nil {
		t = &thread{s: s, name: name, id: rsp.ThreadNumber(name)}
		t.h.Init(s.runner, t, t, t.regs[:], uint32(t.id))
		t.calls.Init(t, &t.h, s.sharedCalls())
		s.threads[name] = t
		if len(s.threads) > 1 && !s.kernel && !s.client.Has("QNonStop") { // debuggers' own stubs have it, and they stop all threads
			s.warn("%s", oneAtATime)
		}
	}
	s.mem.thread = t
	return t, t.readRegs()
}

// sharedCalls returns the list that records the calls of all threads: for a kernel, whose tasks move between
// processors. It returns nil if each thread has its own list.
func (s *Session) sharedCalls() *retprobe.List {
	if !s.kernel {
		return nil
	}
	s.tasks.Stacks = s.isa.stack
	return &s.tasks
}

// pid returns the number of the target's process: that of its first thread, as on Linux.
func (s *Session) pid() int {
	if s.kernel || s.mem.thread == nil {
		return 0
	}
	return s.mem.first
}
