package engine

import (
	"encoding/binary"
	"fmt"
	"path/filepath"
	"slices"

	"gotap/engine/call"
	"gotap/engine/module"
	"gotap/engine/place"
)

// loaderWatch is the breakpoint in the dynamic loader that tells of modules that come and go: the function that every
// loader calls for debuggers before and after it changes its list (r_brk of struct r_debug, System V ABI). glibc
// and musl have it under a name as well, which is how it is found before the loader has filled in the structure.
type loaderWatch struct {
	at      uint64 // 0: there is none; the program is static, or the loader not known
	changes int    // times the loader said something
	debug   uint64 // address of its struct r_debug; 0: not known
}

// watchLoader puts the breakpoint in the loader of an address space. Static programs have none.
func (s *Session) watchLoader(sp *space) {
	if sp.loader.at != 0 {
		return
	}
	for i := range sp.mods {
		m := &sp.mods[i]
		if !isLoader(m) {
			continue
		}
		addr, ok := m.ListChanged()
		if !ok {
			s.warn(fmt.Sprintf("%s has no _dl_debug_state: libraries that are opened later are not probed", m.Path))
			continue
		}
		p, err := s.pointAt(sp, addr, m)
		if err != nil {
			s.warnIn(sp, fmt.Sprintf("cannot watch the loader: %v", err))
			return
		}
		p.internal = (*thread).loaderChanged
		if err := s.sync(p); err != nil {
			s.warnIn(sp, fmt.Sprintf("cannot watch the loader: %v", err))
			p.internal = nil
			return
		}
		sp.loader.at = addr
		for _, v := range m.File.LookupVar("_r_debug") {
			sp.loader.debug = m.Addr(v.Addr)
		}
		return
	}
}

// isLoader recognises dynamic loaders by their file names, as all distributions give them. Debian's musl has the loader in libc.so, which elsewhere
// may be a C library without one.
func isLoader(m *module.Loaded) bool {
	base := filepath.Base(m.Path)
	if base == "libc.so" && m.File != nil && m.Err == nil {
		_, ok := m.ListChanged()
		return ok
	}
	for _, pattern := range []string{"ld-linux*.so*", "ld-*.so", "ld-musl-*.so*", "ld.so*", "ld64.so*", "libc.musl-*.so*"} {
		if ok, _ := filepath.Match(pattern, base); ok && m.File != nil && m.Err == nil {
			return true
		}
	}
	return false
}

// The states of the loader's list (r_state of struct r_debug).
const (
	listConsistent = 0
	listUnknown    = ^uint32(0)
)

// loaderChanged runs when the loader says that its list is about to change or has changed. Only the latter is of interest:
// then the mappings tell what there is.
func (t *thread) loaderChanged(*point) bool {
	sp := t.proc.space
	sp.loader.changes++
	state := sp.loader.state(sp)
	if state != listConsistent && state != listUnknown {
		return false
	}
	t.s.rescan(t.proc)
	if state == listUnknown && len(sp.mods) <= 2 && sp.loader.changes == 1 {
		return false
	}
	return t.s.settleAt(t)
}

// state reads the loader's state of its list.
func (w *loaderWatch) state(sp *space) uint32 {
	var word [4]byte
	if w.debug == 0 || sp.mem.Peek(w.debug+3*uint64(sp.arch.WordSize()), word[:]) != nil {
		return listUnknown
	}
	return binary.LittleEndian.Uint32(word[:])
}

// rescan reads the mappings of a process again, arms probes in modules that are new, and forgets points in those that are gone.
func (s *Session) rescan(p *process) {
	if s.closing {
		return
	}
	mods, err := s.modules.Load(p.pid)
	if err != nil {
		s.warn(err.Error())
		return
	}
	mods = module.MainFirst(p.pid, mods)
	sp := p.space
	if sp.mem.Gone() {
		return // these are the modules of the image that the process is about to run: see execing.go
	}
	old := sp.mods
	sp.mods = mods
	s.names.keep(p.pid, mods)
	s.forget(sp, old)
	added := fresh(old, mods)
	s.watchLoader(sp)
	if !p.silent {
		s.watchSigaction(sp, added)
	}
	s.armAll(p, added)
	for i := range added {
		if !p.silent {
			s.notify(Event{Kind: EventModule, Pid: p.pid, Path: added[i].Path})
		}
	}
}

// same reports whether two modules are the same one, at the same place.
func same(a, b *module.Loaded) bool {
	return a.Dev == b.Dev && a.Inode == b.Inode && a.Start() == b.Start() && a.File == b.File
}

// fresh lists the modules of now that were not there before.
func fresh(before, now []module.Loaded) []module.Loaded {
	var added []module.Loaded
	for i := range now {
		if !slices.ContainsFunc(before, func(m module.Loaded) bool { return same(&m, &now[i]) }) {
			added = append(added, now[i])
		}
	}
	return added
}

// forget drops the points that lie in modules that have gone: their memory is unmapped, or something else by now.
func (s *Session) forget(sp *space, before []module.Loaded) {
	for _, gone := range fresh(sp.mods, before) {
		sp.exclusives = nil
		for addr, p := range sp.points {
			if !gone.Contains(addr) {
				continue
			}
			if p.planted {
				p.planted = false
				s.points -= p.Counted()
			}
			delete(sp.points, addr)
			sp.unrecord(addr)
			if p.slot != 0 && p.steps == 0 {
				sp.slots.give(p.slot)
			}
			s.forgetFunction(p)
		}
	}
}

// forgetFunction makes frames that wait at a point that is gone harmless.
func (s *Session) forgetFunction(p *point) {
	for _, t := range s.threads {
		t.calls.Gone(&p.Point)
	}
}

// ifunc is a function whose code is chosen by the loader, wanted by a probe.
type ifunc struct {
	probe  *probe
	target place.Target
}

// armIFunc arms a probe on the implementation of an indirect function, if it has been chosen, and otherwise waits for
// the loader to run the function that chooses: what that returns is the implementation.
func (s *Session) armIFunc(p *process, pr *probe, t place.Target, m *module.Loaded) error {
	pick := &ifunc{pr, t}
	for _, addr := range s.chosenAddrs(p, t) {
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

// chosenAddrs reads the pointers that hold the chosen implementation, those that do already.
func (s *Session) chosenAddrs(p *process, t place.Target) []uint64 {
	var found []uint64
	mods := p.space.mods
	for _, c := range t.Chosen(module.Files(mods)) {
		for i := range mods {
			if m := &mods[i]; m.File == c.File && m.Err == nil && m.Covers(c.Slot) {
				addr, ok := p.space.Pointer(m.Addr(c.Slot))
				addr = p.space.arch.Target(addr)
				if ok && s.isImplementation(mods, addr, t) && !slices.Contains(found, addr) {
					found = append(found, addr)
				}
			}
		}
	}
	return found
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
	if m == nil || m.Err != nil {
		return nil
	}
	t := place.At(m.File, m.Vaddr(addr))
	t.Symbol, t.Name = pick.target.Symbol, pick.target.Name
	pl, err := s.place(pick.probe, t)
	if err != nil {
		return err
	}
	return s.armAt(p, pl, addr, m)
}

// picking is called when a function that chooses is entered: its result is waited for.
func (t *thread) picking(p *point) {
	for _, pick := range p.picks {
		if pick.probe.Removed {
			continue
		}
		t.calls.Await(func(by call.Target) { by.(*thread).chosen(pick) })
	}
}

// chosen is called when a function that chooses has returned.
func (t *thread) chosen(pick *ifunc) {
	if err := t.s.armChosen(t.proc, pick, t.proc.arch.Target(t.regs[t.proc.arch.Ret()])); err != nil {
		t.s.warn(fmt.Sprintf("probe %s: %v", pick.probe.Spec.Name, err))
	}
}
