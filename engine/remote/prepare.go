package remote

import (
	"bytes"
	"fmt"

	"gotap/arch"
	"gotap/engine/backend"
	"gotap/engine/image/module"
	"gotap/engine/registry/retprobe"
)

// shortestInsn is how many bytes are compared with the file if code does not decode: the length of the shortest
// instruction that may be there.
const shortestInsn = 2

// longestInsn is the number of bytes read to decode an instruction.
const longestInsn = 16

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
	if set == nil {
		return nil, &arch.RefusedError{Addr: addr, Reason: "data between the code"}
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
	code := b.mem.Code(addr, longestInsn)
	if len(code) == 0 {
		return nil, &arch.RefusedError{Addr: addr, Reason: "the stub cannot read memory there" + b.whyAbsent()}
	}
	in, err := set.Decode(code, addr)
	if err != nil {
		if other := b.compareWithFile(code[:min(len(code), shortestInsn)], addr, mod); other != nil {
			return nil, other
		}
		return nil, fmt.Errorf("cannot probe %#x: %w", addr, err)
	}
	if err := b.compareWithFile(code[:in.Len], addr, mod); err != nil {
		return nil, err
	}
	site, err := set.Prepare(in)
	if err != nil {
		return nil, err
	}
	if b.inExclusive(addr, set, mod) {
		return nil, &arch.RefusedError{Addr: addr, Reason: "it is between a load-exclusive and its store-exclusive, which would never succeed"}
	}
	trap := set.Breakpoint(in)
	p := &point{of: b, addr: addr, site: site, kind: b.stub.isa.Kind(set, in), how: b.strategy(site), trap: trap, orig: code[:len(trap)]}
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

// compareWithFile returns an error unless the code in memory is the same as in the file. Kernels change their own
// code while they start.
func (b *breakpoints) compareWithFile(code []byte, addr uint64, mod *module.Loaded) error {
	if mod == nil || mod.File == nil || b.stub.kernel {
		return nil
	}
	want, err := mod.File.Code(mod.Vaddr(addr), len(code))
	if err != nil || len(want) < len(code) || bytes.Equal(want, code) {
		return nil
	}
	return &arch.RefusedError{Addr: addr, Reason: "the code in memory is not that of the file " + mod.Path}
}

// strategy chooses how the instruction of a site is completed.
func (b *breakpoints) strategy(site arch.Site) arch.Strategy {
	stepless := b.stub.isa.Stepless
	if site.Allowed(arch.Emulated) && (stepless || site.Strategy() == arch.Emulated || b.cfg.Engine == backend.Emulate) && b.cfg.Engine != backend.Step || stepless {
		return arch.Emulated
	}
	return arch.InPlace
}

// inExclusive reports whether an address is in a sequence of exclusive accesses.
func (b *breakpoints) inExclusive(addr uint64, set arch.Arch, mod *module.Loaded) bool {
	if !b.stub.isa.Monitors() {
		return false
	}
	return b.runs.Have(addr, mod, func(start uint64, size int) []uint64 {
		return b.stub.isa.Exclusives(b.mem.Code(start, size), start, set)
	})
}
