package remote

import (
	"errors"
	"fmt"

	"gotap/engine/backend"
	"gotap/engine/executor"
	"gotap/engine/isa"
	"gotap/engine/remote/control"
	"gotap/engine/remote/memory"
	"gotap/engine/remote/rsp"
)

// breakpoints are the points of the target, and the breakpoints that the stub sets for them, or that we write if the
// stub sets none. The control's lock guards them. Breakpoints are planted and removed while the whole target is
// stopped, so no thread can run into a partly written one.
type breakpoints struct {
	stub    *stub
	control *control.Control
	mem     *memory.Memory
	program *program
	cfg     *Config

	executors executor.List // the breakpoints themselves are the only one

	points map[uint64]*point
	runs   isa.Exclusives // of the code that is there now
	armed  int            // number of points that probes asked for
	patch  bool           // the stub sets no breakpoints itself
	behind bool           // the stub shows the program counter behind breakpoints
	lifted bool           // no breakpoint may be in the target: a child uses its memory
}

// sync plants the breakpoint of a point if it is wanted, and removes it if not.
func (b *breakpoints) sync(p *point) error {
	want := p.wanted() && !b.control.Closing() && !b.lifted
	switch {
	case want && p.Planted:
		return p.By.Replace(p)
	case want:
		return b.install(p)
	case p.Planted:
		return executor.Err(p.By.Remove(p))
	}
	return nil
}

// install makes the programs of a point run that is wanted.
func (b *breakpoints) install(p *point) error {
	if n := p.Counted(); b.armed+n > b.cfg.MaxProbes {
		return backend.TooManyError{Limit: b.cfg.MaxProbes, Wanted: b.armed + n}
	}
	by, err := b.executors.Install(p)
	if err == nil {
		p.By = by
	}
	return err
}

// syncAll is sync for all points.
func (b *breakpoints) syncAll() (all error) {
	for _, p := range b.points {
		all = errors.Join(all, b.sync(p))
	}
	return all
}

// lift removes all breakpoints, or ends that: those that are wanted are planted again.
func (b *breakpoints) lift(on bool) error {
	b.lifted = on
	return b.syncAll()
}

// plant sets a breakpoint: the stub does it, or we write one if the stub has no such request.
func (b *breakpoints) plant(p *point) error {
	err := rsp.ErrUnsupported
	if !b.patch {
		err = b.stub.client.Insert(rsp.Software, p.Addr, p.kind)
		if errors.Is(err, rsp.ErrUnsupported) {
			b.patch = true
			if b.cfg.Patched != nil {
				b.cfg.Patched()
			}
		}
	}
	if errors.Is(err, rsp.ErrUnsupported) {
		err = b.mem.WriteCode(p.Addr, p.Trap)
	}
	if err != nil {
		return fmt.Errorf("cannot set a breakpoint at %#x: %w", p.Addr, err)
	}
	p.Planted = true
	b.armed += p.Counted()
	return nil
}

// unplant removes a breakpoint.
func (b *breakpoints) unplant(p *point) error {
	if !p.Planted {
		return nil
	}
	var err error
	if b.patch {
		err = b.mem.WriteCode(p.Addr, p.Orig)
	} else {
		err = b.stub.client.Remove(rsp.Software, p.Addr, p.kind)
	}
	if err != nil {
		return fmt.Errorf("cannot take the breakpoint at %#x away: %w", p.Addr, err)
	}
	p.Planted = false
	b.armed -= p.Counted()
	return nil
}

// clearCopy removes the breakpoints from the memory of a child, which is a copy of the target's. The child has been
// chosen; in the target the breakpoints stay.
func (b *breakpoints) clearCopy() (all error) {
	for _, p := range b.points {
		switch {
		case p.Planted && b.patch:
			all = errors.Join(all, b.stub.client.WriteMemory(p.Addr, p.Orig))
		case p.Planted:
			all = errors.Join(all, b.stub.client.Remove(rsp.Software, p.Addr, p.kind))
		}
	}
	return all
}

// replaced forgets all points: the target runs another program, and the stub has removed the breakpoints itself.
func (b *breakpoints) replaced() {
	for _, p := range b.points {
		p.Planted = false
	}
	clear(b.points)
	b.runs = isa.Exclusives{}
	b.armed, b.lifted = 0, false
}

// hit returns the point whose breakpoint a thread with the given program counter hit, or nil if there is none. The
// point's address is then the program counter to continue with.
//
// On x86 the processor reports a breakpoint with the program counter behind it, and stubs differ in what they show.
// A stub that reports "swbreak" has corrected the program counter. Another stub may have corrected it or not; its
// first unambiguous breakpoint shows which. A breakpoint on a return at the end of a function whose neighbour is
// probed too could be ambiguous. Breakpoints that we wrote ourselves are always reported from behind.
func (b *breakpoints) hit(stop rsp.Stop, pc uint64) *point {
	at, behind := b.points[pc], b.points[b.stub.isa.BreakpointPC(pc)]
	if stop.Reason == "swbreak" || at == behind {
		return planted(at)
	}
	switch {
	case b.patch:
		b.behind = true
	case (planted(at) == nil) != (planted(behind) == nil):
		b.behind = planted(behind) != nil
	}
	if !b.behind {
		return planted(at)
	}
	return behind // also for a breakpoint that was removed meanwhile: its instruction has not run
}

// planted returns the point if its breakpoint is planted, and nil otherwise.
func planted(p *point) *point {
	if p == nil || !p.Planted {
		return nil
	}
	return p
}

// overlap reports whether any of n bytes at addr belongs to a breakpoint.
func (b *breakpoints) overlap(addr uint64, n int) bool {
	for _, p := range b.points {
		if p.overlaps(addr, n) {
			return true
		}
	}
	return false
}

// longestTrap is the length of the longest breakpoint.
const longestTrap = 4

// hide restores, in what was read at addr, the bytes that our own breakpoints displace.
func (b *breakpoints) hide(addr uint64, read []byte) {
	if !b.patch {
		return
	}
	if len(b.points) < len(read) {
		for _, p := range b.points {
			p.hideIn(addr, read)
		}
		return
	}
	for at := addr - (longestTrap - 1); at != addr+uint64(len(read)); at++ {
		if p := b.points[at]; p != nil {
			p.hideIn(addr, read)
		}
	}
}
