package main

import (
	"errors"

	"gotap/engine"
	"gotap/script"
)

// What COMMAND does before its libraries are mapped. Most probes can be placed only then, and what is wrong with them be told. But those on
// system calls, and on the loader itself, have hits on the way there. Where there are such probes they are begun before, and the
// script runs: its begin callbacks come before all hits, and whoever holds the target is there to let it go. What the script
// says is held back until all probes are armed: nothing is said where one of them cannot be.

// arm places the probes. COMMAND is where its libraries are mapped when it returns; or, when a begin callback has stopped the run,
// where it was.
func (r *run) arm() error {
	all := r.intentions()
	if r.launched != 0 {
		if r.beginEarly(all); r.early && r.script().Stopped() {
			return nil
		}
		if err := r.session.Settle(r.launched); err != nil {
			return withStatus(statusTarget, err)
		}
	}
	if err := r.addAll(all); err != nil {
		return err
	}
	r.addLate()
	return nil
}

// beginEarly begins all probes, and runs the script, when any of them can have hits before libraries are mapped. The others are begun
// as well: a callback may disable them.
func (r *run) beginEarly(all []intention) {
	armed := 0
	for _, p := range all {
		if p.bad != nil {
			continue
		}
		n, err := r.session.Begin(p.is)
		if errors.Is(err, engine.ErrSettled) {
			return
		}
		armed += n // what else is wrong is told when the probe is added
	}
	if armed == 0 {
		return
	}
	r.early = true
	r.said.Hold()
	r.tracer.await()
	r.script().Begin()
	r.script().Start()
}

// startScript runs the begin callbacks and starts the host, unless that has been done; then it lets out what the script has said.
func (r *run) startScript() {
	if !r.early {
		r.script().Begin()
		r.script().Start()
	}
	r.said.Release()
}

// endedEarly ends a run whose COMMAND ended in its loader, a library of which is missing for example, with what the probes saw
// of it. It reports false for other errors.
func (r *run) endedEarly(err error) bool {
	var ended *engine.LaunchError
	if !r.early || !errors.As(err, &ended) {
		return false
	}
	r.progress.end()
	r.said.Release()
	r.announce()
	r.finish()
	return true
}

// await has probes that callbacks add wait until libraries are mapped.
func (t *tracer) await() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.wait = true
}

// putOff reports whether a probe has to wait, and sees to it that it is added later. What of it can be armed is armed.
func (t *tracer) putOff(p *script.Probe, spec engine.ProbeSpec) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.wait {
		t.late = append(t.late, intention{declaration: scriptProbe{p}, is: spec})
		t.session.Begin(spec) // what is wrong is told when it is added
	}
	return t.wait
}

// awaited are the probes that waited; no others will.
func (t *tracer) awaited() []intention {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.wait = false
	return t.late
}

// addLate adds the probes that waited. The callbacks that wanted them have returned: errors are told, and the run goes on.
func (r *run) addLate() {
	for _, p := range r.tracer.awaited() {
		if err := r.session.Add(p.is); err != nil && !errors.Is(err, engine.ErrInterrupted) {
			r.complain(withStatus(statusOfProbe(err), diagnose(p.declaration, err)))
		}
	}
}
