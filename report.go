package gotap

import (
	"fmt"
	"path/filepath"
	"strings"

	"gotap/compile/diag"
	"gotap/engine"
	"gotap/script"
)

// This file has what the engine calls on its tracing thread: it passes reports on without blocking.

// warn takes a line for the user.
func (s *Session) warn(text string) { s.notices.post(func() { s.note("%s", text) }) }

// dumped takes the report of a core. One that could not be written is an error.
func (s *Session) dumped(pid int, path string, size int64, err error) {
	s.notices.post(func() {
		if err != nil {
			s.opts.Hooks.Complain(err)
			return
		}
		s.note("core of process %d: %s (%d KB)", pid, path, size>>10)
	})
}

// overloaded takes the report that targets are stopped for too long. What a budget takes from the data is loss, which
// Tool.Quiet does not silence.
func (s *Session) overloaded(o engine.Overload) {
	share := fmt.Sprintf("targets were stopped for %.0f %% of the time", 100*o.Share)
	d := diag.Diagnostic{Severity: diag.Warning}
	switch o.Step {
	case engine.OverloadSlow:
		d.Text, d.Hint = share+" and run slowly", "--budget PERCENT limits that; fewer probes, or every: N, help as well"
		if s.opts.Tool.Silent {
			return
		}
	case engine.OverloadSampling:
		d.Text = fmt.Sprintf("--budget: %s (%.6g %% allowed); probes rest for a part of each quarter of a second, and counts are samples",
			share, s.opts.Budget*100)
	case engine.OverloadDisabled:
		d.Text = fmt.Sprintf("--budget: %s although probes rested; probe %s was the hottest and is disabled", share, o.Probe)
	case engine.OverloadDetached:
		s.detached.Store(true)
		d.Text = fmt.Sprintf("--budget: %s even so; gotap detaches from them", share)
	}
	s.notices.post(func() { s.opts.Output.Error(d) })
}

// lifecycle takes an event of a process.
func (s *Session) lifecycle(e engine.Event) {
	if e.Kind == engine.EventDone {
		return
	}
	f := map[string]any{"pid": int64(e.Pid), "tid": int64(e.Tid), "time": e.Time}
	switch e.Kind {
	case engine.EventFork:
		s.forks.Add(1)
		s.opts.Hooks.Process(e.Child, true)
		f["child"] = int64(e.Child)
	case engine.EventThread:
		f["child"] = int64(e.Child)
	case engine.EventExec:
		s.opts.Hooks.Process(e.Pid, true)
		if s.launched == 0 {
			s.outcomes.rename(e.Pid, shown(filepath.Base(e.Path)))
		}
		f["path"] = e.Path
	case engine.EventModule:
		f["path"] = e.Path
	case engine.EventSignal:
		f["signal"] = int64(e.Signal)
		for _, m := range e.Origin {
			f[m.Name] = m.Value
		}
		if e.PC != 0 {
			f["pc"], f["stack"] = e.PC, e.Stack
		}
	case engine.EventExit:
		s.opts.Hooks.Process(e.Pid, false)
		if e.Pid == s.launched {
			s.ends.command.Do(func() { close(s.ends.over) }) // its number may be another's later
		}
		s.ended(e)
		ending(f, e)
	case engine.EventThreadEnd:
		ending(f, e)
	}
	s.script().Lifecycle(script.Event{Kind: string(e.Kind), Fields: f})
}

// ending sets the fields of the end of a process or of a thread.
func ending(f map[string]any, e engine.Event) {
	f["signal"], f["status"], f["core"] = int64(e.Signal), int64(e.Status), e.Dumped
}

// listensToSignals reports whether a callback gets the events of signals.
func (s *Session) listensToSignals() bool { return s.script().Listens(string(engine.EventSignal)) }

// explained adds to a cause of loss which limit it was, by the name that raises it.
func explained(cause string) string {
	switch cause {
	case "ring full":
		return cause + ": callbacks and output could not keep up"
	case "log full":
		return cause + ": more in a hit than its probe's logMax"
	}
	kind, _, _ := strings.Cut(cause, " ")
	if strings.HasSuffix(cause, " full") && kind != "trail" && kind != "recorder" {
		return cause + ": more keys than its max"
	}
	return cause
}
