package gotap

import (
	"gotap/engine"
	"gotap/engine/remote"
)

// tracing is what a session traces with: processes of this machine by ptrace (package engine), or one target behind a
// GDB stub (package remote). Safe for concurrent use.
type tracing interface {
	Spawn(engine.Command) (int, error)
	Settle(pid int) error
	Attach(pid int) error
	Start() error
	Wait() error
	Done() <-chan struct{}
	Close(now bool) error

	Begin(engine.ProbeSpec) (int, error)
	Add(engine.ProbeSpec) error
	Prepare(add []engine.ProbeSpec, remove []uint32) (exchange, error)
	Enable(id uint32) error
	Disable(id uint32) error
	Remove(id uint32) error
	Query() []engine.ProbeState
	Stats() engine.Stats
	Release(ticket uint32)

	Pids() []int
	LeftStopped(pid int) bool
	Symbol(pid int, addr uint64) engine.Symbol
	Stack(pid int, pcs []uint64) []engine.Symbol
	ReadMemory(pid int, addr uint64, p []byte) int
	FreshMissing() []error
}

// exchange is an exchange of probes that has been prepared.
type exchange interface {
	Add(engine.ProbeSpec) error
	Commit() error
	CommitEach() error
}

// local makes the sessions of package engine fit.
type local struct{ *engine.Session }

func (s local) Prepare(add []engine.ProbeSpec, remove []uint32) (exchange, error) {
	return s.Session.Prepare(add, remove)
}

// stub makes those of package remote fit.
type stub struct{ *remote.Session }

func (s stub) Prepare(add []engine.ProbeSpec, remove []uint32) (exchange, error) {
	return s.Session.Prepare(add, remove)
}

// LeftStopped reports false: nothing is launched behind a stub.
func (stub) LeftStopped(int) bool { return false }

// openEngine makes the session that the options ask for.
func (s *Session) openEngine() (tracing, error) {
	o := &s.opts
	cfg := engine.Config{
		Own: o.Tool.Own, Follow: o.Follow, Engine: o.Engine, Affinity: o.Affinity, MaxProbes: o.MaxProbes, Unsafe: o.Unsafe, Arena: s.arena,
		Notify: s.lifecycle, SignalStacks: s.listensToSignals, Warn: s.warn, Dumped: s.dumped, Facilities: s.facilities, Budget: o.Budget, Overloaded: s.overloaded,
		Changed: s.changed, Quit: s.ends.quit,
		LateFallback: o.Tool.Supervised, Explain: o.Tool.Explain, Fetch: o.Tool.Fetch,
	}
	if o.Remote == "" {
		e, err := engine.New(cfg)
		return local{e}, err
	}
	e, err := remote.Open(remote.Config{Config: cfg, Address: o.Remote, Exe: o.Exe, Patched: func() { o.Hooks.Stub("") }})
	if err != nil {
		return nil, err
	}
	o.Hooks.Stub(o.Remote)
	return stub{e}, nil
}
