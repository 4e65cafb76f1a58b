package engine

import (
	"fmt"

	"gotap/engine/image/module"
	"gotap/engine/isa"
	"gotap/engine/space"
)

// loading follows what the dynamic loader maps and which implementations it picks.
type loading struct {
	s       *Session
	modules module.Cache
}

// watchLoader sets the breakpoint in the loader of an address space. Static programs have no loader.
func (d *loading) watchLoader(sp *space.Space) {
	if sp.Loader.At != 0 {
		return
	}
	for i := range sp.Modules {
		m := &sp.Modules[i]
		if !m.IsLoader() {
			continue
		}
		addr, ok := m.ListChanged()
		if !ok {
			d.s.warn(fmt.Sprintf("%s has no _dl_debug_state: libraries that are opened later are not probed", m.Path))
			continue
		}
		p, err := d.s.patcher.PointAt(sp, addr, m)
		if err != nil {
			d.s.warnIn(sp, fmt.Sprintf("cannot watch the loader: %v", err))
			return
		}
		p.Internal = internally((*thread).loaderChanged)
		if err := d.s.patcher.Sync(p); err != nil {
			d.s.warnIn(sp, fmt.Sprintf("cannot watch the loader: %v", err))
			p.Internal = nil
			return
		}
		sp.Loader.At = addr
		for _, v := range m.File.LookupVar("_r_debug") {
			sp.Loader.Debug = m.Addr(v.Addr)
		}
		return
	}
}

// loaderChanged runs when the loader reports that its list is about to change or has changed. Only the latter matters:
// then the mappings show the present modules.
func (t *thread) loaderChanged(*space.Point) bool {
	sp := t.proc.space
	sp.Loader.Changes++
	state := sp.ListState()
	if state != space.ListConsistent && state != space.ListUnknown {
		return false
	}
	t.s.loading.rescan(t.proc)
	if state == space.ListUnknown && len(sp.Modules) <= 2 && sp.Loader.Changes == 1 {
		return false
	}
	return t.s.launching.settleAt(t)
}

// show makes known what a process maps that is being attached to, so that the calls by which it would see the
// fallback's handler are watched as soon as that is installed. Nothing is armed: see rescan.
func (d *loading) show(p *process) {
	sp := p.space
	if mods, err := d.modules.Load(p.pid); err == nil && (sp.Modules == nil || sp.Unarmed) && !sp.Mem.Gone() {
		sp.Modules, sp.Unarmed = module.MainFirst(p.pid, mods), true
		d.s.guards.Examine(&sp.Guard)
	}
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
	if sp.Mem.Gone() {
		return // these modules belong to the image that the process is about to run: see execattach.go
	}
	before, old := sp.Modules, sp.Modules
	sp.Modules = mods
	d.s.names.Keep(p.pid, mods)
	d.forget(sp, old)
	if sp.Unarmed {
		old, sp.Unarmed = nil, false
	}
	added := module.Added(old, mods)
	if len(added) > 0 {
		d.s.affinity.Replaced()
	}
	d.watchLoader(sp)
	if !p.unprobed {
		d.s.guards.Watch(&sp.Guard, added)
		d.watchPtrace(sp, added)
	}
	d.s.armAll(p, added)
	d.s.patcher.CallersMoved(sp, before, d.s.Set.All())
	for i := range added {
		if !p.unprobed {
			d.s.notify(Event{Kind: EventModule, Pid: p.pid, Path: added[i].Path})
		}
	}
}

// forget discards the points in modules that are unloaded: their memory is unmapped, or used for something else by now.
func (d *loading) forget(sp *space.Space, before []module.Loaded) {
	for _, gone := range module.Added(sp.Modules, before) {
		sp.Exclusives = isa.Exclusives{}
		for _, p := range d.s.patcher.Unmapped(sp, &gone) {
			d.forgetFunction(p)
		}
	}
}

// forgetFunction makes frames that wait at a discarded point harmless.
func (d *loading) forgetFunction(p *space.Point) {
	for _, t := range d.s.threads {
		t.calls.Gone(&p.Point)
	}
}
