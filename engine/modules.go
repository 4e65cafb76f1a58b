package engine

import (
	"encoding/binary"
	"fmt"
	"path/filepath"

	"gotap/engine/image/module"
	"gotap/engine/isa"
)

// loading follows what the dynamic loader maps and which implementations it picks.
type loading struct {
	s       *Session
	modules module.Cache
}

// loaderWatch is the breakpoint in the dynamic loader that reports modules being loaded and unloaded. It is on the
// function that every loader calls for debuggers before and after it changes its list (r_brk of struct r_debug, System
// V ABI). glibc and musl export the function under a name too, with which it is found before the loader has filled in
// the structure.
type loaderWatch struct {
	at      uint64 // 0: none, because the program is static or the loader unknown
	changes int    // number of calls the loader has made
	debug   uint64 // address of its struct r_debug; 0: unknown
}

// watchLoader sets the breakpoint in the loader of an address space. Static programs have no loader.
func (d *loading) watchLoader(sp *space) {
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
			d.s.warn(fmt.Sprintf("%s has no _dl_debug_state: libraries that are opened later are not probed", m.Path))
			continue
		}
		p, err := d.s.patcher.pointAt(sp, addr, m)
		if err != nil {
			d.s.warnIn(sp, fmt.Sprintf("cannot watch the loader: %v", err))
			return
		}
		p.internal = (*thread).loaderChanged
		if err := d.s.patcher.sync(p); err != nil {
			d.s.warnIn(sp, fmt.Sprintf("cannot watch the loader: %v", err))
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

// isLoader recognises dynamic loaders by the file names that all distributions use. Debian's musl has the loader in
// libc.so. Elsewhere a libc.so may be a C library without a loader.
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

// States of the loader's list (r_state of struct r_debug).
const (
	listConsistent = 0
	listUnknown    = ^uint32(0)
)

// loaderChanged runs when the loader reports that its list is about to change or has changed. Only the latter matters:
// then the mappings show the present modules.
func (t *thread) loaderChanged(*point) bool {
	sp := t.proc.space
	sp.loader.changes++
	state := sp.loader.state(sp)
	if state != listConsistent && state != listUnknown {
		return false
	}
	t.s.loading.rescan(t.proc)
	if state == listUnknown && len(sp.mods) <= 2 && sp.loader.changes == 1 {
		return false
	}
	return t.s.launching.settleAt(t)
}

// state reads the loader's state of its list.
func (w *loaderWatch) state(sp *space) uint32 {
	var word [4]byte
	if w.debug == 0 || sp.mem.Peek(w.debug+3*uint64(sp.arch.WordSize()), word[:]) != nil {
		return listUnknown
	}
	return binary.LittleEndian.Uint32(word[:])
}

// rescan reads the mappings of a process again, arms probes in new modules, and discards points in modules that are
// unloaded.
func (d *loading) rescan(p *process) {
	if d.s.life.closing {
		return
	}
	mods, err := d.modules.Load(p.pid)
	if err != nil {
		d.s.warn(err.Error())
		return
	}
	mods = module.MainFirst(p.pid, mods)
	sp := p.space
	if sp.mem.Gone() {
		return // these modules belong to the image that the process is about to run: see execattach.go
	}
	old := sp.mods
	sp.mods = mods
	d.s.names.Keep(p.pid, mods)
	d.forget(sp, old)
	added := module.Added(old, mods)
	if len(added) > 0 {
		d.s.affinity.Replaced()
	}
	d.watchLoader(sp)
	if !p.unprobed {
		d.s.guards.Watch(&sp.guard, added)
		d.watchPtrace(sp, added)
	}
	d.s.armAll(p, added)
	for i := range added {
		if !p.unprobed {
			d.s.notify(Event{Kind: EventModule, Pid: p.pid, Path: added[i].Path})
		}
	}
}

// forget discards the points in modules that are unloaded: their memory is unmapped, or used for something else by now.
func (d *loading) forget(sp *space, before []module.Loaded) {
	for _, gone := range module.Added(sp.mods, before) {
		sp.exclusives = isa.Exclusives{}
		for addr, p := range sp.points {
			if !gone.Contains(addr) {
				continue
			}
			if p.planted {
				p.planted = false
				d.s.patcher.points -= p.Counted()
			}
			delete(sp.points, addr)
			sp.guard.Unrecord(addr)
			if start := p.jump.code.Addr; start != 0 && start != addr {
				sp.guard.Unrecord(start)
			}
			if sp.jumps.starts[p.jump.code.Addr] == p {
				delete(sp.jumps.starts, p.jump.code.Addr)
			}
			if p.slot != 0 && p.steps == 0 {
				sp.slots.give(p.slot)
			}
			d.forgetFunction(p)
		}
	}
}

// forgetFunction makes frames that wait at a discarded point harmless.
func (d *loading) forgetFunction(p *point) {
	for _, t := range d.s.threads {
		t.calls.Gone(&p.Point)
	}
}
