package remote

import (
	"bytes"
	"errors"
	"fmt"

	"gotap/arch"
	"gotap/engine/backend"
	"gotap/engine/image/module"
	"gotap/engine/registry/retprobe"
	"gotap/engine/remote/rsp"
)

// point is a physical probe point: an address with one breakpoint while anybody wants one.
type point struct {
	retprobe.Point
	s       *Session
	addr    uint64
	site    arch.Site
	kind    int // for the stub
	how     arch.Strategy
	trap    []byte // written by ourselves where the stub does not
	orig    []byte
	planted bool

	internal func() // what the session itself does here
}

// wanted reports whether anybody needs the breakpoint.
func (p *point) wanted() bool { return p.internal != nil || p.Wanted() }

// Address implements retprobe.Breakpoint.
func (p *point) Address() uint64 { return p.addr }

// Sync implements retprobe.Breakpoint.
func (p *point) Sync() error { return p.s.sync(p) }

// Recount implements retprobe.Breakpoint.
func (p *point) Recount(by int) {
	if p.planted {
		p.s.armed += by
	}
}

// shortestInsn is the length of the shortest instruction that does not decode in code that is not the file's.
const shortestInsn = 2

// longestInsn is how many bytes are read to decode an instruction.
const longestInsn = 16

// pointAt finds or makes the point at an address, and refuses what cannot be probed. set is the instruction set; nil: the module tells.
func (s *Session) pointAt(addr uint64, set arch.Arch) (*point, error) {
	if p := s.points[addr]; p != nil {
		return p, nil
	}
	mod := module.Find(s.mods, addr)
	if set == nil {
		set = s.isa.SetAt(mod, addr)
	}
	if set == nil {
		return nil, &arch.RefusedError{Addr: addr, Reason: "data between the code"}
	}
	p, err := s.preparePoint(addr, set, mod)
	if err != nil {
		return nil, err
	}
	s.points[addr] = p
	return p, nil
}

func (s *Session) preparePoint(addr uint64, set arch.Arch, mod *module.Loaded) (*point, error) {
	code := s.mem.code(addr, longestInsn)
	if len(code) == 0 {
		return nil, &arch.RefusedError{Addr: addr, Reason: "the stub cannot read memory there" + s.whyAbsent()}
	}
	in, err := set.Decode(code, addr)
	if err != nil {
		if other := s.compareWithFile(code[:min(len(code), shortestInsn)], addr, mod); other != nil {
			return nil, other
		}
		return nil, fmt.Errorf("cannot probe %#x: %w", addr, err)
	}
	if err := s.compareWithFile(code[:in.Len], addr, mod); err != nil {
		return nil, err
	}
	site, err := set.Prepare(in)
	if err != nil {
		return nil, err
	}
	if s.inExclusive(addr, set, mod) {
		return nil, &arch.RefusedError{Addr: addr, Reason: "it is between a load-exclusive and its store-exclusive, which would never succeed"}
	}
	trap := set.Breakpoint(in)
	p := &point{s: s, addr: addr, site: site, kind: s.isa.kind(set, in), how: s.strategy(site), trap: trap, orig: code[:len(trap)]}
	p.At = p
	return p, nil
}

// whyAbsent is a reason that memory may have for not being there.
func (s *Session) whyAbsent() string {
	switch {
	case s.kernel:
		return ": the kernel has not started yet, or lies elsewhere than its file says (boot it with nokaslr)"
	case len(s.mods) > 0 && s.mods[0].File != nil && s.mods[0].File.PIE && s.mods[0].Bias == 0:
		return ": it does not say where it has loaded the program, which may lie anywhere (link it with -no-pie)"
	}
	return ""
}

// compareWithFile makes sure that what is in memory is what the file has. Kernels change their own code while they start.
func (s *Session) compareWithFile(code []byte, addr uint64, mod *module.Loaded) error {
	if mod == nil || mod.File == nil || s.kernel {
		return nil
	}
	want, err := mod.File.Code(mod.Vaddr(addr), len(code))
	if err != nil || len(want) < len(code) || bytes.Equal(want, code) {
		return nil
	}
	return &arch.RefusedError{Addr: addr, Reason: "the code in memory is not that of the file " + mod.Path}
}

// strategy chooses how the instruction of a site is completed.
func (s *Session) strategy(site arch.Site) arch.Strategy {
	if site.Allowed(arch.Emulated) && (s.isa.Stepless || site.Strategy() == arch.Emulated || s.cfg.Engine == backend.Emulate) && s.cfg.Engine != backend.Step || s.isa.Stepless {
		return arch.Emulated
	}
	return arch.InPlace
}

// inExclusive reports whether an address is in a sequence of exclusive accesses.
func (s *Session) inExclusive(addr uint64, set arch.Arch, mod *module.Loaded) bool {
	if !s.isa.Monitors() {
		return false
	}
	return s.runs.Have(addr, mod, func(start uint64, size int) []uint64 {
		return s.isa.Exclusives(s.mem.code(start, size), start, set)
	})
}

// sync plants the breakpoint of a point if it is wanted, and takes it away if it is not. The target is stopped, all of it, so
// that nobody can see a breakpoint half written.
func (s *Session) sync(p *point) error {
	want := p.wanted() && !s.closing && !s.lifted
	switch {
	case want && !p.planted:
		return s.plant(p)
	case !want && p.planted:
		return s.unplant(p)
	}
	return nil
}

// plant sets a breakpoint: the stub does, or we write one where it has no such request.
func (s *Session) plant(p *point) error {
	n := p.Counted()
	if s.armed+n > s.cfg.MaxProbes {
		return backend.TooManyError{Limit: s.cfg.MaxProbes, Wanted: s.armed + n}
	}
	err := rsp.ErrUnsupported
	if !s.patch {
		err = s.client.Insert(rsp.Software, p.addr, p.kind)
		if errors.Is(err, rsp.ErrUnsupported) {
			s.patch = true
			if s.cfg.Patched != nil {
				s.cfg.Patched()
			}
		}
	}
	if errors.Is(err, rsp.ErrUnsupported) {
		err = s.writeCode(p.addr, p.trap)
	}
	if err != nil {
		return fmt.Errorf("cannot set a breakpoint at %#x: %w", p.addr, err)
	}
	p.planted = true
	s.armed += n
	return nil
}

// unplant takes a breakpoint away.
func (s *Session) unplant(p *point) error {
	if !p.planted {
		return nil
	}
	var err error
	if s.patch {
		err = s.writeCode(p.addr, p.orig)
	} else {
		err = s.client.Remove(rsp.Software, p.addr, p.kind)
	}
	if err != nil {
		return fmt.Errorf("cannot take the breakpoint at %#x away: %w", p.addr, err)
	}
	p.planted = false
	s.armed -= p.Counted()
	return nil
}

// writeCode writes instructions.
func (s *Session) writeCode(addr uint64, code []byte) error {
	delete(s.mem.blocks, addr&^(block-1))
	delete(s.mem.blocks, (addr+uint64(len(code))-1)&^(block-1))
	return s.client.WriteMemory(addr, code)
}
