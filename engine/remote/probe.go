package remote

import (
	"iter"

	"gotap/arch"
	"gotap/engine/executor"
	"gotap/engine/image/module"
	"gotap/engine/locate"
	"gotap/engine/place"
	"gotap/engine/probes"
	"gotap/engine/registry"
	"gotap/engine/registry/retprobe"
	"gotap/engine/semaphore"
	"gotap/engine/syscallprobe"
	"gotap/engine/watchpoint"
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
	_ probes.Process = tracer{}
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
func (t tracer) Processes() []probes.Process { return []probes.Process{t} }

// Spaces implements probes.Tracer.
func (t tracer) Spaces() []probes.Space { return []probes.Space{t} }

// AddressSpace implements probes.Process.
func (t tracer) AddressSpace() probes.Space { return t }

// Watches implements probes.Process.
func (t tracer) Watches() *watchpoint.List { return &t.s.watches.list }

// Watchable implements probes.Process.
func (t tracer) Watchable(spec place.Spec) (in watchpoint.Process, ok bool) {
	return watchpoint.Process{Places: t.s.places, Mods: t.s.program.mods, ISA: t.s.stub.isa.ISA, Info: t.s.program.otherInfo}, onData(spec)
}

// Semaphores implements probes.Space.
func (t tracer) Semaphores() (*semaphore.Counts, semaphore.Memory) { return &t.s.sems, t.s.mem }

// Points implements probes.Space.
func (t tracer) Points() iter.Seq[*retprobe.Point] { return executor.OwnersOf(t.s.points.points) }

// Together implements probes.Tracer: the target is stopped, and the points that fn syncs are planted at once.
func (t tracer) Together(fn func()) map[*retprobe.Point]error {
	fn()
	return nil
}

// Replacing implements probes.Tracer. A stub reports a program when it has been replaced.
func (t tracer) Replacing() bool { return false }

// AwaitReplaced implements probes.Tracer.
func (t tracer) AwaitReplaced() error { return nil }

// AwaitPrograms implements probes.Tracer: programs run in stops alone.
func (t tracer) AwaitPrograms() {}

// Calls implements probes.Tracer.
func (t tracer) Calls() *syscallprobe.Probes { return &t.s.calls.probes }

// AddCalls implements probes.Tracer.
func (t tracer) AddCalls(pr *probe, spec place.Spec) error { return t.s.calls.add(pr, spec) }

// AddSample implements probes.Tracer.
func (t tracer) AddSample(_ *probe, spec place.Spec) error {
	return &place.RefusedError{Place: spec.String(), Reason: "a stub cannot stop one thread: each sample would stop the whole target, and the way there and back takes longer than most samples are apart",
		Help: "probe a function, with every: 100 where it is called often"}
}

// SyncSamples implements probes.Tracer.
func (t tracer) SyncSamples() {}

// DropSamples implements probes.Tracer.
func (t tracer) DropSamples(*probe) {}

// Samples implements probes.Tracer.
func (t tracer) Samples(*probe) int { return 0 }

// SyncCalls implements probes.Tracer.
func (t tracer) SyncCalls() error { return t.s.calls.sync() }

// SyncWatches implements probes.Tracer.
func (t tracer) SyncWatches() error { return t.s.watches.sync() }

// Closing implements probes.Tracer.
func (t tracer) Closing() bool { return t.s.control.Closing() }

// KeepCalls implements probes.Tracer.
func (t tracer) KeepCalls(pr *probe) { t.s.threads.keepCalls(pr) }

// Warn implements probes.Tracer.
func (t tracer) Warn(text string) { t.s.report.Warn(text) }

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
	if pt.How == arch.Emulated && pt.Site.Insn().Control == arch.Syscall && s.stub.isa.Stepless && s.stub.kernel {
		return &arch.RefusedError{Addr: addr, Reason: "a kernel makes no system calls"}
	}
	return pt.Attach(pl, &executor.Body{
		ISA: s.stub.isa.ISA, Entry: addr, Target: pl.Target, Module: m, Code: s.mem.Code, Most: maxFunc,
		At: func(at uint64) (*retprobe.Point, error) { return s.points.shared(at, s.stub.isa.SetAt(m, addr)) },
	})
}
