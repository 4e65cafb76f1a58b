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

// point is a physical probe point: an address that has one breakpoint while any owner needs it.
type point struct {
	retprobe.Point
	s       *Session
	addr    uint64
	site    arch.Site
	kind    int // the breakpoint's kind in the stub's protocol
	how     arch.Strategy
	trap    []byte // the breakpoint, which we write if the stub does not
	orig    []byte
	planted bool

	internal func() // the session's own action here
}

// wanted reports whether any owner needs the breakpoint.
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

// shortestInsn is how many bytes are compared with the file if code does not decode: the length of the shortest
// instruction that may be there.
const shortestInsn = 2

// longestInsn is the number of bytes read to decode an instruction.
const longestInsn = 16

// pointAt returns the point at an address, and creates it if necessary; it refuses instructions that cannot be
// probed. set is the instruction set; if nil, the module determines it.
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

// whyAbsent returns a possible reason why memory cannot be read.
func (s *Session) whyAbsent() string {
	switch {
	case s.kernel:
		return ": the kernel has not started yet, or lies elsewhere than its file says (boot it with nokaslr)"
	case len(s.mods) > 0 && s.mods[0].File != nil && s.mods[0].File.PIE && s.mods[0].Bias == 0:
		return ": it does not say where it has loaded the program, which may lie anywhere (link it with -no-pie)"
	}
	return ""
}

// compareWithFile returns an error unless the code in memory is the same as in the file. Kernels change their own
// code while they start.
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

// sync plants the breakpoint of a point if it is wanted, and removes it if not. The whole target is stopped, so no
// thread can run into a partly written breakpoint.
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

// plant sets a breakpoint: the stub does it, or we write one if the stub has no such request.
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

// unplant removes a breakpoint.
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
