package engine

import (
	"path/filepath"

	"gotap/arch"
	"gotap/engine/abi"
	"gotap/engine/executor"
	"gotap/engine/image/module"
	"gotap/engine/locate"
	"gotap/engine/place"
	"gotap/engine/place/catalog"
	"gotap/engine/probes"
	"gotap/engine/registry"
	"gotap/engine/registry/retprobe"
)

// host provides what native tracing knows about places beyond the contents of files. It implements locate.Host.
type host struct {
	*Config
	s *Session
}

var _ locate.Host = host{}

// InFiles implements locate.Host: a system call has a number, and data of a process an address, so neither is in a
// file.
func (host) InFiles(spec place.Spec) bool {
	return spec.Kind != place.Syscall && spec.Kind != place.Sample && !(spec.Kind == place.Watch && spec.Absolute())
}

// Resolve implements locate.Host.
func (host) Resolve(r *place.Resolver, spec place.Spec, files []*module.File) ([]place.Target, error) {
	return r.ResolveAll(spec, files)
}

// Info implements locate.Host. Programs for indirect functions are compiled when the loader has selected the
// implementation, and programs for watchpoints when their addresses are known.
func (h host) Info(spec place.Spec, t place.Target) PlaceInfo {
	if t.IFunc || spec.Kind == place.Watch {
		return nil
	}
	return h.s.info(t)
}

// NoModule implements locate.Host.
func (h host) NoModule(pid int, spec place.Spec) error { return h.s.excludedAddress(pid, spec) }

// Awaits implements locate.Host: a file that is named by its path and contains the place may be mapped later. It is
// opened under the name by which processes will map it, with links resolved.
//
// So is a place of a program that the command line names as one that the command starts.
func (h host) Awaits(spec place.Spec, _ error) (there bool, err error) {
	if catalog.Starts(spec, h.s.launching.command) != "" {
		return true, nil
	}
	if !spec.OneModule() {
		return false, nil
	}
	path, err := filepath.Abs(spec.Module)
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return false, nil
	}
	f, err := h.s.loading.modules.OpenPath(path)
	if err != nil {
		return false, nil
	}
	_, err = h.s.places.Resolver().Resolve(spec, f)
	return true, err
}

// info returns the answers to what compiling a program may ask about a target.
func (s *Session) info(t place.Target) PlaceInfo {
	return &registry.Info{Files: &s.names.Files, Target: t, ISA: abi.Of(t.File).ISA, Modules: s.names.Mapped}
}

// otherInfo returns the answers for a place that is not code.
func (s *Session) otherInfo(name string, names arch.Arch) PlaceInfo {
	return &registry.Other{Place: name, Regs: names, Word: shownWord, Globals: s.globals()}
}

var _ probes.Process = (*process)(nil)

// AddressSpace implements probes.Process.
func (p *process) AddressSpace() probes.Space { return tracedSpace{p.space, p.s} }

// Pid implements arming.Process.
func (p *process) Pid() int { return p.pid }

// Modules implements arming.Process.
func (p *process) Modules() []module.Loaded {
	if p.space.Unarmed {
		return nil
	}
	return p.space.Modules
}

// HasVDSO implements arming.Process.
func (p *process) HasVDSO() bool { return true }

// Gone implements arming.Process.
func (p *process) Gone() bool { return p.space.Mem.Gone() }

// ArmSpecial implements arming.Process. Watchpoints are armed with the other probes that are not breakpoints.
func (p *process) ArmSpecial(pr *probe, spec place.Spec, t place.Target, m *module.Loaded) (done bool, err error) {
	switch {
	case spec.Kind == place.Watch:
		return true, nil
	case t.IFunc:
		return true, p.s.loading.armIFunc(p, pr, t, m)
	}
	return false, nil
}

// Attach implements arming.Process.
func (p *process) Attach(pl *placement, addr uint64, m *module.Loaded) error {
	pt, err := p.s.patcher.PointAt(p.space, addr, m)
	if err != nil {
		return err
	}
	sp := p.space
	return pt.Attach(pl, &executor.Body{
		ISA: sp.ABI.ISA, Entry: addr, Target: pl.Target, Module: m, Code: sp.Code,
		At: func(addr uint64) (*retprobe.Point, error) { return p.s.patcher.OwnersAt(sp, addr, m) },
	})
}

// armAll arms all probes in a process, in modules that have just appeared.
func (s *Session) armAll(p *process, mods []module.Loaded) {
	if p.unprobed {
		return
	}
	s.Appeared(p, mods)
}
