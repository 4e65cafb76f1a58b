package engine

import (
	"fmt"
	"slices"

	"gotap/engine/arming"
	"gotap/engine/image/module"
	"gotap/engine/locate"
	"gotap/engine/place"
	"gotap/engine/registry/retprobe"
	"gotap/engine/space"
)

// armIFunc arms a probe on the implementation of an indirect function, if it has been selected. It also places a
// breakpoint on the resolver function, which the loader runs to select: the implementation is the resolver's
// result.
func (d *loading) armIFunc(p *process, pr *probe, t place.Target, m *module.Loaded) error {
	pick := &space.IFunc{Probe: pr, Target: t}
	chosen, kernel := d.resolvedAddrs(p, t)
	if len(chosen) == 0 && kernel {
		return kernelChosen(t)
	}
	for _, addr := range chosen {
		if err := d.armResolved(p, pick, addr); err != nil {
			return err
		}
	}
	pt, err := d.s.patcher.PointAt(p.space, m.Addr(t.Vaddr), m)
	if err != nil {
		return fmt.Errorf("cannot watch the choice of %s: %w", t.Name, err)
	}
	if slices.ContainsFunc(pt.Resolvers, func(o *space.IFunc) bool { return o.Probe == pr && o.Target.Name == t.Name }) {
		return nil
	}
	pt.Resolvers = append(pt.Resolvers, pick)
	return d.s.patcher.Sync(pt)
}

// kernelChosen returns the error for a function of the C library for which the loader has selected the kernel's own
// code: callers reach that without running any code of the library.
func kernelChosen(t place.Target) error {
	return &place.RefusedError{Place: t.Name, Reason: "the loader has chosen the kernel's code for it: " + locate.WhyVDSO,
		Help: "the functions that call it can be probed"}
}

// chosenAddrs reads the pointers to the selected implementation, and returns those already filled in. kernel
// reports whether one of them is an address in the vdso.
func (d *loading) resolvedAddrs(p *process, t place.Target) (found []uint64, kernel bool) {
	mods := p.space.Modules
	for _, c := range t.Chosen(module.Files(mods)) {
		for i := range mods {
			if m := &mods[i]; m.File == c.File && m.Err == nil && m.Covers(c.Slot) {
				addr, ok := p.space.Pointer(m.Addr(c.Slot))
				addr = p.space.ABI.Target(addr)
				kernel = kernel || ok && addr != 0 && d.s.images.VDSOOf(p.pid, p.space).Holds(addr)
				if ok && d.isImplementation(mods, addr, t) && !slices.Contains(found, addr) {
					found = append(found, addr)
				}
			}
		}
	}
	return found, kernel
}

// isImplementation reports whether the loader has filled in a pointer to an implementation: the pointer is then the
// start of a function of the same module.
func (d *loading) isImplementation(mods []module.Loaded, addr uint64, t place.Target) bool {
	m := module.Find(mods, addr)
	if m == nil || m.Err != nil || m.File == nil || m.File != t.File || m.File.InPLT(m.Vaddr(addr)) {
		return false
	}
	vaddr := m.Vaddr(addr)
	fn, ok := m.File.FuncAt(vaddr)
	return m.File.IsText(vaddr) && vaddr != t.Vaddr && (!ok || fn.Addr == vaddr)
}

// armChosen arms a probe on the implementation at an address.
func (d *loading) armResolved(p *process, pick *space.IFunc, addr uint64) error {
	m := module.Find(p.space.Modules, addr)
	if m == nil && d.s.images.VDSOOf(p.pid, p.space).Holds(addr) {
		return kernelChosen(pick.Target)
	}
	if m == nil || m.Err != nil {
		return nil
	}
	t := place.At(m.File, m.Vaddr(addr))
	t.Symbol, t.Name = pick.Target.Symbol, pick.Target.Name
	pl, err := pick.Probe.Place(t, d.s.info(t))
	if err != nil {
		return err
	}
	return arming.Attach(p, pl, addr, m)
}

// awaitResolver is called when a resolver function is entered, and waits for its result.
func (t *thread) awaitResolver(p *space.Point) {
	for _, pick := range p.Resolvers {
		if pick.Probe.Removed {
			continue
		}
		t.calls.Await(func(by retprobe.Target) { threadOf(by).chosen(pick) })
	}
}

// chosen is called when a resolver function has returned.
func (t *thread) chosen(pick *space.IFunc) {
	err := t.s.loading.armResolved(t.proc, pick, t.proc.arch.Target(t.Regs[t.proc.arch.Ret()]))
	if err == nil {
		return
	}
	pr := pick.Probe
	pr.Refuse(fmt.Sprintf("%s: %v", pick.Target.Name, err))
	if slices.ContainsFunc(pr.Spec.Specs, func(spec place.Spec) bool { return !spec.Pattern() }) {
		t.s.warn(fmt.Sprintf("probe %s: %v", pr.Spec.Name, err))
	}
}
