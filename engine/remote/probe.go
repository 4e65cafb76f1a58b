package remote

import (
	"errors"
	"iter"

	"gotap/arch"
	"gotap/engine/arming"
	"gotap/engine/image/module"
	"gotap/engine/locate"
	"gotap/engine/place"
	"gotap/engine/probes"
	"gotap/engine/registry"
	"gotap/engine/registry/retprobe"
)

// A probe is what a user asked for; a placement is that probe at one place of a file: see package registry.
type (
	probe     = registry.Probe
	placement = registry.Placement
)

// tracer is what the session provides for its probes: it implements probes.Tracer. Since the session has one
// target, it is also the process in which the probes are armed, and the address space.
type tracer struct{ s *Session }

var (
	_ probes.Tracer  = tracer{}
	_ arming.Process = tracer{}
	_ probes.Space   = tracer{}
)

// Do implements probes.Tracer: the target is stopped meanwhile.
func (t tracer) Do(fn func() error) error { return t.s.held(fn) }

// Read implements probes.Tracer: the target keeps running.
func (t tracer) Read(fn func()) error {
	t.s.control.Lock()
	defer t.s.control.Unlock()
	fn()
	return nil
}

// Prepare implements probes.Tracer. The target is stopped the whole time: places are compared with its memory.
func (t tracer) Prepare(fn func([]locate.Process, probes.Do) error) error {
	return t.s.held(func() error {
		at := []locate.Process{{Pid: t.s.threads.pid(), Mods: t.s.program.mods}}
		return fn(at, func(fn func() error) error { return fn() })
	})
}

// Processes implements probes.Tracer.
func (t tracer) Processes() []arming.Process { return []arming.Process{t} }

// Spaces implements probes.Tracer.
func (t tracer) Spaces() []probes.Space { return []probes.Space{t} }

// Points implements probes.Space.
func (t tracer) Points() iter.Seq[*retprobe.Point] { return t.s.points.owners() }

// Together implements probes.Tracer: the target is stopped, and the points that fn syncs are planted at once.
func (t tracer) Together(fn func()) map[*retprobe.Point]error {
	fn()
	return nil
}

// Replacing implements probes.Tracer. A stub reports a program when it has been replaced.
func (t tracer) Replacing() bool { return false }

// AwaitReplaced implements probes.Tracer.
func (t tracer) AwaitReplaced() error { return nil }

// AddNonBreakpoints implements probes.Tracer.
func (t tracer) AddNonBreakpoints(pr *probe) error {
	if err := errors.Join(t.s.addWatches(pr), t.s.watches.sync(), t.s.syncSemaphores()); err != nil {
		return err
	}
	return t.s.calls.add(pr)
}

// DropNonBreakpoints implements probes.Tracer.
func (t tracer) DropNonBreakpoints(pr *probe) {
	t.s.watches.drop(pr)
	t.s.calls.probes.Drop(pr)
	t.s.syncSemaphores()
	t.s.calls.sync()
}

// SyncNonBreakpoints implements probes.Tracer.
func (t tracer) SyncNonBreakpoints() error {
	return errors.Join(t.s.watches.sync(), t.s.syncSemaphores(), t.s.calls.sync())
}

// NonBreakpoints implements probes.Tracer.
func (t tracer) NonBreakpoints(pr *probe) int {
	return t.s.watches.list.Count(pr) + t.s.calls.probes.Count(pr)
}

// KeepCalls implements probes.Tracer.
func (t tracer) KeepCalls(pr *probe) { t.s.threads.keepCalls(pr) }

// Warn implements probes.Tracer.
func (t tracer) Warn(text string) { t.s.report.warn("%s", text) }

// Pid implements arming.Process.
func (t tracer) Pid() int { return t.s.threads.pid() }

// Modules implements arming.Process.
func (t tracer) Modules() []module.Loaded { return t.s.program.mods }

// HasVDSO implements arming.Process: a stub reports no such code.
func (t tracer) HasVDSO() bool { return false }

// Gone implements arming.Process.
func (t tracer) Gone() bool { return t.s.control.Ended() }

// ArmSpecial implements arming.Process. Watchpoints are armed with the other probes that are not breakpoints.
func (t tracer) ArmSpecial(_ *probe, spec place.Spec, _ place.Target, _ *module.Loaded) (done bool, err error) {
	return onData(spec), nil
}

// Attach implements arming.Process.
func (t tracer) Attach(pl *placement, addr uint64, m *module.Loaded) error {
	s := t.s
	pt, err := s.points.get(addr, nil)
	if err != nil {
		return err
	}
	if pt.how == arch.Emulated && pt.site.Insn().Control == arch.Syscall && s.stub.isa.Stepless && s.stub.kernel {
		return &arch.RefusedError{Addr: addr, Reason: "a kernel makes no system calls"}
	}
	return pt.Attach(pl, &body{&s.points, pt, pl.Target, m})
}
