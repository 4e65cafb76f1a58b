package engine

import (
	"slices"

	"gotap/engine/backend"
	"gotap/engine/image/module"
	"gotap/engine/locate"
	"gotap/engine/place"
	"gotap/engine/probes"
	"gotap/engine/registry"
	"gotap/engine/registry/retprobe"
	"gotap/engine/semaphore"
	"gotap/engine/space"
	"gotap/engine/syscallprobe"
)

// A probe is what a user asked for; a placement is that probe at one place of a file: see package registry. Only
// the tracing thread uses their counters and state.
type (
	probe     = registry.Probe
	placement = registry.Placement
)

// Swap is an exchange of probes that is prepared but not made yet.
type Swap = probes.Exchange

// tracer is what the session provides for its probes. It implements probes.Tracer and probes.Launcher.
type tracer struct{ s *Session }

var (
	_ probes.Tracer   = tracer{}
	_ probes.Launcher = tracer{}
)

// Do implements probes.Tracer.
func (t tracer) Do(fn func() error) error { return t.s.do(fn) }

// Read implements probes.Tracer.
func (t tracer) Read(fn func()) error {
	return t.s.do(func() error {
		fn()
		return nil
	})
}

// Prepare implements probes.Tracer: fn runs on the caller's goroutine, while the targets run.
func (t tracer) Prepare(fn func([]locate.Process, probes.Do) error) error {
	procs, err := t.s.snapshot()
	if err != nil {
		return err
	}
	return fn(procs, t.s.do)
}

// snapshot returns the probed processes with their modules.
func (s *Session) snapshot() ([]locate.Process, error) {
	var all []locate.Process
	err := s.do(func() error {
		for _, p := range s.probed() {
			all = append(all, locate.Process{Pid: p.pid, Mods: p.Modules()})
		}
		return nil
	})
	slices.SortFunc(all, func(a, b locate.Process) int { return a.Pid - b.Pid })
	return all, err
}

// Processes implements probes.Tracer.
func (t tracer) Processes() []probes.Process {
	var all []probes.Process
	for _, p := range t.s.probed() {
		all = append(all, p)
	}
	return all
}

// Spaces implements probes.Tracer.
func (t tracer) Spaces() []probes.Space {
	var all []probes.Space
	for sp := range t.s.spaces() {
		all = append(all, tracedSpace{sp, t.s})
	}
	return all
}

// Together implements probes.Tracer.
func (t tracer) Together(fn func()) map[*retprobe.Point]error {
	lost := map[*retprobe.Point]error{}
	for p, err := range t.s.patcher.Together(fn) {
		if p.Space.Mem.Gone() {
			err = backend.ErrGone
		}
		lost[&p.Point] = err
	}
	return lost
}

// Replacing implements probes.Tracer.
func (t tracer) Replacing() bool { return attaching(t).replacing() }

// AwaitReplaced implements probes.Tracer.
func (t tracer) AwaitReplaced() error { return attaching(t).settle() }

// AwaitPrograms implements probes.Tracer.
func (t tracer) AwaitPrograms() { t.s.natives.AwaitStale() }

// Calls implements probes.Tracer.
func (t tracer) Calls() *syscallprobe.Probes { return &t.s.others.calls }

// AddCalls implements probes.Tracer.
func (t tracer) AddCalls(pr *probe, spec place.Spec) error { return t.s.others.calls.Add(pr, spec) }

// SyncCalls implements probes.Tracer.
func (t tracer) SyncCalls() error {
	t.s.others.syncCalls()
	return nil
}

// AddSample implements probes.Tracer.
func (t tracer) AddSample(pr *probe, spec place.Spec) error { return t.s.sampler.Add(pr, spec) }

// SyncSamples implements probes.Tracer.
func (t tracer) SyncSamples() { t.s.sampler.Sync() }

// DropSamples implements probes.Tracer.
func (t tracer) DropSamples(pr *probe) { t.s.sampler.Drop(pr) }

// Samples implements probes.Tracer.
func (t tracer) Samples(pr *probe) int { return t.s.sampler.Count(pr) }

// SyncWatches implements probes.Tracer.
func (t tracer) SyncWatches() error { return t.s.others.syncWatches() }

// Closing implements probes.Tracer.
func (t tracer) Closing() bool { return t.s.life.closing }

// KeepCalls implements probes.Tracer.
func (t tracer) KeepCalls(pr *probe) {
	t.s.natives.TakeOf(pr)
	for _, th := range t.s.threads {
		th.calls.Keep(pr)
		th.calling.Keep(pr)
	}
}

// Warn implements probes.Tracer.
func (t tracer) Warn(text string) { t.s.warn(text) }

// Unsettled implements probes.Launcher.
func (t tracer) Unsettled() bool { return t.s.launching.settling.t != nil }

// IsLoader implements probes.Launcher.
func (t tracer) IsLoader(m *module.Loaded) bool { return m.IsLoader() }

// Begun implements probes.Launcher. If the loader of a program has breakpoints, the program hits them at once, so
// it gets the fallback now.
func (t tracer) Begun(pr *probe) {
	th := t.s.launching.settling.t
	code := func(spec place.Spec) bool { return spec.Kind != place.Syscall && spec.Kind != place.Sample }
	if th != nil && pr.Armed() && slices.ContainsFunc(pr.Spec.Specs, code) && th.GetRegs() {
		th.guard.Protect()
	}
}

// tracedSpace is an address space with its session. It implements probes.Space.
type tracedSpace struct {
	*space.Space
	s *Session
}

// Semaphores implements probes.Space.
func (sp tracedSpace) Semaphores() (*semaphore.Counts, semaphore.Memory) {
	return &sp.Space.Semaphores, markMemory{sp}
}
