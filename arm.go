package gotap

import (
	"cmp"
	"errors"
	"path/filepath"

	"gotap/engine"
)

// Before COMMAND's libraries are mapped most probes cannot be placed, and what is wrong with them is not known. But
// probes on system calls and on the loader itself have hits until then. Where there are such probes they are begun
// first, and the script runs: its begin callbacks come before all hits, and its host releases held threads. What the
// script prints is held back until all probes are armed: nothing is printed where one of them cannot be.

// Arm starts COMMAND or attaches to the targets, places the probes and runs the begin callbacks. Nothing of COMMAND but
// its loader has run when it returns. When the context is done before, the error is engine.ErrInterrupted.
func (s *Session) Arm() error {
	s.progress.err = s.begin()
	s.progress.interrupted = errors.Is(s.progress.err, engine.ErrInterrupted)
	return s.progress.err
}

func (s *Session) begin() error {
	s.opts.Hooks.Progress("reading programs and their symbols")
	defer s.opts.Hooks.Progress("")
	if err := s.startTargets(); err != nil {
		return failed(BadTarget, err)
	}
	if err := s.arm(); err != nil {
		return err
	}
	s.opts.Hooks.Progress("")
	s.startScript()
	return nil
}

// startTargets attaches to processes, or starts COMMAND.
func (s *Session) startTargets() error {
	o := &s.opts
	if o.Remote != "" { // connected is attached
		for _, pid := range s.engine.Pids() {
			s.outcomes.expect(o.remoteName(), pid)
		}
		return nil
	}
	if len(o.Pids) > 0 {
		return attaching{s}.all()
	}
	if s.placesNoMore() {
		return engine.ErrInterrupted
	}
	c := engine.Command{Path: cmp.Or(o.Tool.Path, o.Command[0]), Args: o.Command, Stdin: o.Stdin, Stdout: o.Stdout, Stderr: o.Stderr}
	pid, err := s.engine.Spawn(c)
	if s.launched = pid; err == nil {
		s.outcomes.expect(cmp.Or(o.Tool.Title, filepath.Base(o.Command[0])), pid)
	}
	return err
}

// arm places the probes. COMMAND is where its libraries are mapped when it returns; or, when a begin callback has
// stopped the session, where it was.
func (s *Session) arm() error {
	all := s.resolved()
	if s.launched != 0 {
		if s.beginEarly(all); s.progress.early && s.script().Stopped() {
			return nil
		}
		if err := s.engine.Settle(s.launched); err != nil {
			return failed(BadTarget, err)
		}
	}
	if err := s.addAll(all); err != nil {
		return err
	}
	s.addDeferred()
	return nil
}

// resolved returns all probes that the session begins with.
func (s *Session) resolved() (list []resolvedProbe) {
	var all []declaration
	for _, p := range s.script().Probes() {
		all = append(all, scriptProbe{p})
	}
	for _, f := range s.definitions.Files() {
		all = append(all, declarationsOf(f)...)
	}
	for _, p := range all {
		spec, err := p.spec(s.tracer.linker)
		list = append(list, resolvedProbe{p, spec, err})
	}
	return list
}

// beginEarly begins all probes, and runs the script, when any of them can have hits before libraries are mapped. The
// others are begun as well: a callback may disable them.
func (s *Session) beginEarly(all []resolvedProbe) {
	armed := 0
	for _, p := range all {
		if p.bad != nil {
			continue
		}
		n, err := s.engine.Begin(p.spec)
		if errors.Is(err, engine.ErrSettled) {
			return
		}
		armed += n // other errors are reported when the probe is added
	}
	if armed == 0 {
		return
	}
	s.progress.early = true
	s.said.Hold()
	s.tracer.deferAdds()
	s.runScript()
}

// startScript runs the begin callbacks and starts the host, unless that has been done; then it releases what the script
// has printed.
func (s *Session) startScript() {
	if !s.progress.early {
		s.runScript()
	}
	s.said.Release()
}

func (s *Session) runScript() {
	s.progress.running = true
	s.script().Begin()
	s.script().Start()
}

// addDeferred adds the probes that waited. The callbacks that added them have returned: errors are reported, and the
// session goes on.
func (s *Session) addDeferred() {
	for _, p := range s.tracer.deferred() {
		if err := s.engine.Add(p.spec); err != nil && !errors.Is(err, engine.ErrInterrupted) {
			s.opts.Hooks.Complain(failed(kindOfProbe(err), diagnose(p.declaration, err)))
		}
	}
}

// endedInLoader reports that COMMAND ended in its loader, because a library is missing for example, after probes could
// see it.
func (s *Session) endedInLoader() bool {
	var ended *engine.LaunchError
	return s.progress.early && errors.As(s.progress.err, &ended)
}

// remoteName returns what messages call the target behind a stub.
func (o *Options) remoteName() string {
	if o.Exe != "" {
		return filepath.Base(o.Exe)
	}
	return "the target"
}
