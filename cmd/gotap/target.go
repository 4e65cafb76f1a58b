package main

import (
	"fmt"
	"net"

	"gotap/engine"
	"gotap/engine/remote"
)

// session is what a run traces with: processes of this machine by ptrace (package engine), or one target behind a GDB stub
// (package remote). Safe for concurrent use.
type session interface {
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
}

// exchange is an exchange of probes that is prepared and not yet made.
type exchange interface {
	Add(engine.ProbeSpec) error
	Commit() error
	CommitEach() error
}

// localSession makes the sessions of package engine fit.
type localSession struct{ *engine.Session }

func (s localSession) Prepare(add []engine.ProbeSpec, remove []uint32) (exchange, error) {
	return s.Session.Prepare(add, remove)
}

// remoteSession makes those of package remote fit.
type remoteSession struct{ *remote.Session }

func (s remoteSession) Prepare(add []engine.ProbeSpec, remove []uint32) (exchange, error) {
	return s.Session.Prepare(add, remove)
}

// LeftStopped reports false: gotap launches nothing behind a stub.
func (remoteSession) LeftStopped(int) bool { return false }

// open makes the session that the flags ask for.
func (p *plan) open(w *World, cfg engine.Config) (session, error) {
	if p.remote == "" {
		s, err := engine.New(cfg)
		return localSession{s}, err
	}
	s, err := remote.Open(remote.Config{Config: cfg, Address: p.remote, Exe: p.exe, Patched: func() { w.guardRemote("") }})
	if err != nil {
		return nil, err
	}
	w.guardRemote(p.remote)
	return remoteSession{s}, nil
}

// checkRemote understands the flags of a target behind a stub.
func (p *plan) checkRemote() error {
	switch {
	case p.remote == "" && p.exe != "":
		return fmt.Errorf("--exe goes with --remote: a local program is named as COMMAND")
	case p.remote == "":
		return nil
	case len(p.command) > 0 || len(p.runOptions.pids) > 0:
		return fmt.Errorf("--remote traces what the stub runs: it goes with neither COMMAND nor -p")
	}
	_, port, err := net.SplitHostPort(p.remote)
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	if err != nil || port == "0" || port == "" {
		return &hintError{fmt.Errorf("--remote %s: not HOST:PORT", p.remote), "as in --remote localhost:1234, or [::1]:1234"}
	}
	return nil
}
