package remote

import (
	"gotap/arch"
	"gotap/engine/backend"
	"gotap/engine/executor"
	"gotap/engine/image/module"
	"gotap/engine/registry/retprobe"
)

// get returns the point at an address, and creates it if necessary; it refuses instructions that cannot be probed. set
// is the instruction set; if nil, the module determines it.
func (b *breakpoints) get(addr uint64, set arch.Arch) (*point, error) {
	if p := b.points[addr]; p != nil {
		return p, nil
	}
	mod := b.program.find(addr)
	if set == nil {
		set = b.stub.isa.SetAt(mod, addr)
	}
	p, err := b.prepare(addr, set, mod)
	if err != nil {
		return nil, err
	}
	b.points[addr] = p
	return p, nil
}

// shared returns the owners of the point at an address, and creates the point if necessary.
func (b *breakpoints) shared(addr uint64, set arch.Arch) (*retprobe.Point, error) {
	p, err := b.get(addr, set)
	if err != nil {
		return nil, err
	}
	return &p.Point, nil
}

// prepare examines the instruction at an address, and returns a point for it.
func (b *breakpoints) prepare(addr uint64, set arch.Arch, mod *module.Loaded) (*point, error) {
	target := executor.Target{
		ISA: b.stub.isa.ISA, Code: b.mem.Code, Exclusives: &b.runs, ChangesCode: b.stub.kernel,
		Absent: "the stub cannot read memory there" + b.whyAbsent(),
	}
	site, err := executor.Prepare(&target, addr, set, mod)
	if err != nil {
		return nil, err
	}
	p := &point{of: b, kind: b.stub.isa.Kind(set, site.Insn.Insn())}
	p.Spot = executor.Spot{Addr: addr, Site: site.Insn, How: b.strategy(site.Insn), Trap: site.Trap, Orig: site.Orig}
	p.At = p
	return p, nil
}

// whyAbsent returns a possible reason why memory cannot be read.
func (b *breakpoints) whyAbsent() string {
	switch {
	case b.stub.kernel:
		return ": the kernel has not started yet, or lies elsewhere than its file says (boot it with nokaslr)"
	case b.program.isUnplaced():
		return ": it does not say where it has loaded the program, which may lie anywhere (link it with -no-pie)"
	}
	return ""
}

// strategy chooses how the instruction of a site is completed.
func (b *breakpoints) strategy(site arch.Site) arch.Strategy {
	stepless := b.stub.isa.Stepless
	if site.Allowed(arch.Emulated) && (stepless || site.Strategy() == arch.Emulated || b.cfg.Engine == backend.Emulate) && b.cfg.Engine != backend.Step || stepless {
		return arch.Emulated
	}
	return arch.InPlace
}
