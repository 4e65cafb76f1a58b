package engine

import (
	"encoding/binary"
	"fmt"
	"slices"

	"gotap/engine/arming"
	"gotap/engine/image/module"
	"gotap/engine/locate"
	"gotap/engine/place"
	"gotap/engine/registry/retprobe"
)

// ifunc is a function whose code is chosen by the loader, wanted by a probe.
type ifunc struct {
	probe  *probe
	target place.Target
}

// armIFunc arms a probe on the implementation of an indirect function, if it has been chosen, and otherwise waits for
// the loader to run the function that chooses: what that returns is the implementation.
func (s *Session) armIFunc(p *process, pr *probe, t place.Target, m *module.Loaded) error {
	pick := &ifunc{pr, t}
	chosen, kernel := s.chosenAddrs(p, t)
	if len(chosen) == 0 && kernel {
		return kernelChosen(t)
	}
	for _, addr := range chosen {
		if err := s.armChosen(p, pick, addr); err != nil {
			return err
		}
	}
	pt, err := s.pointAt(p.space, m.Addr(t.Vaddr), m)
	if err != nil {
		return fmt.Errorf("cannot watch the choice of %s: %w", t.Name, err)
	}
	if slices.ContainsFunc(pt.picks, func(o *ifunc) bool { return o.probe == pr && o.target.Name == t.Name }) {
		return nil
	}
	pt.picks = append(pt.picks, pick)
	return s.sync(pt)
}

// kernelChosen refuses a function of the C library for which the loader has chosen the kernel's own: callers reach that without
// passing any code of the library.
func kernelChosen(t place.Target) error {
	return &place.RefusedError{Place: t.Name, Reason: "the loader has chosen the kernel's code for it: " + locate.WhyVDSO,
		Help: "the functions that call it can be probed"}
}

// chosenAddrs reads the pointers that hold the chosen implementation, those that do already. kernel reports whether one holds
// an address in the vdso.
func (s *Session) chosenAddrs(p *process, t place.Target) (found []uint64, kernel bool) {
	mods := p.space.mods
	for _, c := range t.Chosen(module.Files(mods)) {
		for i := range mods {
			if m := &mods[i]; m.File == c.File && m.Err == nil && m.Covers(c.Slot) {
				addr, ok := p.space.Pointer(m.Addr(c.Slot))
				addr = p.space.arch.Target(addr)
				kernel = kernel || ok && addr != 0 && s.vdsoOf(p).holds(addr)
				if ok && s.isImplementation(mods, addr, t) && !slices.Contains(found, addr) {
					found = append(found, addr)
				}
			}
		}
	}
	return found, kernel
}

// isImplementation reports whether a pointer that the loader fills in has been filled in: it is the start of a function of the same module.
func (s *Session) isImplementation(mods []module.Loaded, addr uint64, t place.Target) bool {
	m := module.Find(mods, addr)
	if m == nil || m.Err != nil || m.File == nil || m.File != t.File || m.File.InPLT(m.Vaddr(addr)) {
		return false
	}
	vaddr := m.Vaddr(addr)
	fn, ok := m.File.FuncAt(vaddr)
	return m.File.IsText(vaddr) && vaddr != t.Vaddr && (!ok || fn.Addr == vaddr)
}

// Pointer implements goabi.Pointers: it reads a pointer of the target.
func (sp *space) Pointer(addr uint64) (uint64, bool) {
	var word [8]byte
	if sp.mem.Peek(addr, word[:sp.arch.WordSize()]) != nil {
		return 0, false
	}
	return binary.LittleEndian.Uint64(word[:]), true
}

// armChosen arms a probe on the implementation at an address.
func (s *Session) armChosen(p *process, pick *ifunc, addr uint64) error {
	m := module.Find(p.space.mods, addr)
	if m == nil && s.vdsoOf(p).holds(addr) {
		return kernelChosen(pick.target)
	}
	if m == nil || m.Err != nil {
		return nil
	}
	t := place.At(m.File, m.Vaddr(addr))
	t.Symbol, t.Name = pick.target.Symbol, pick.target.Name
	pl, err := pick.probe.Place(t, s.info(t))
	if err != nil {
		return err
	}
	return arming.Attach(p, pl, addr, m)
}

// picking is called when a function that chooses is entered: its result is waited for.
func (t *thread) picking(p *point) {
	for _, pick := range p.picks {
		if pick.probe.Removed {
			continue
		}
		t.calls.Await(func(by retprobe.Target) { by.(*thread).chosen(pick) })
	}
}

// chosen is called when a function that chooses has returned.
func (t *thread) chosen(pick *ifunc) {
	err := t.s.armChosen(t.proc, pick, t.proc.arch.Target(t.regs[t.proc.arch.Ret()]))
	if err == nil {
		return
	}
	pr := pick.probe
	pr.Refuse(fmt.Sprintf("%s: %v", pick.target.Name, err))
	if slices.ContainsFunc(pr.Spec.Specs, func(spec place.Spec) bool { return !spec.Pattern() }) {
		t.s.warn(fmt.Sprintf("probe %s: %v", pr.Spec.Name, err))
	}
}
