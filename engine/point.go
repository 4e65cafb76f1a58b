package engine

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"gotap/arch"
	"gotap/engine/abi"
	"gotap/engine/backend"
	"gotap/engine/image/module"
	"gotap/engine/linux/ptrace"
	"gotap/engine/registry/retprobe"
)

// point is a physical probe point: one address of one address space, with a breakpoint on it while anybody wants one.
// Any number of owners share it: probes, functions that are left there, calls that return there, and the watch on the
// loader. A point that nobody wants any more stays known: a thread may have hit its breakpoint before that was
// taken away, and its stop be reported only later.
type point struct {
	retprobe.Point
	s          *Session
	sp         *space
	addr       uint64
	site       arch.Site
	length     int
	how        arch.Strategy
	trap       []byte // the breakpoint
	orig       []byte // what it displaces, as long
	planted    bool
	queued     bool   // it is to be planted with the others of the session's batch
	slot       uint64 // of the copy that is run displaced; 0: none yet
	unsure     bool   // the copy may not be there: it was made in the process that this one was forked from, perhaps after that
	alone      bool   // the other threads are held while the instruction is completed
	steps      int    // threads in the middle of running the copy
	resting    bool   // taken out for the rest of the window, to stay within the budget
	passed     uint32 // hits in processes whose action for SIGTRAP is watched
	blocks     bool   // it was passed with SIGTRAP blocked
	hits       uint32 // how often it was hit; wraps
	signalCall int    // the C library calls rt_sigprocmask or rt_sigaction here, of which kind: see sigmask.go; or 0
	barred     bool   // it must not be planted: see inSequence

	float arch.FloatSite // nil unless the instruction leaves its address in the floating-point state

	internal func(*thread, *point) (stay bool) // what the engine itself does here; stay: the hit is put off
	picks    []*ifunc                          // probes on a function whose code is chosen by the one that starts here
}

// wanted reports whether anybody needs the breakpoint.
func (p *point) wanted() bool {
	if p.barred || p.sp.bare {
		return false
	}
	if p.internal != nil || p.Returns > 0 {
		return true
	}
	for _, pick := range p.picks {
		if !pick.probe.Removed {
			return true
		}
	}
	return !p.resting && p.Wanted()
}

// Address implements retprobe.Breakpoint.
func (p *point) Address() uint64 { return p.addr }

// Sync implements retprobe.Breakpoint.
func (p *point) Sync() error { return p.s.sync(p) }

// Recount implements retprobe.Breakpoint.
func (p *point) Recount(by int) {
	switch {
	case p.planted:
		p.s.points += by
	case p.queued:
		p.s.batch.counted += by
	}
}

// pointAt finds or makes the point at an address. Making one decodes and prepares the instruction there, and refuses
// with a reason what cannot be probed; file is the module's file and may be nil.
func (s *Session) pointAt(sp *space, addr uint64, mod *module.Loaded) (*point, error) {
	return s.pointIn(sp, addr, mod, sp.arch.SetAt(mod, addr))
}

// pointTo is pointAt for what a pointer to code leads to.
func (s *Session) pointTo(sp *space, pointer uint64) (*point, error) {
	addr, set := sp.arch.Pointer(pointer)
	mod := module.Find(sp.mods, addr)
	if set == nil {
		return s.pointAt(sp, addr, mod)
	}
	return s.pointIn(sp, addr, mod, set)
}

// pointIn is pointAt for code that is known to be in one of the architecture's instruction sets.
func (s *Session) pointIn(sp *space, addr uint64, mod *module.Loaded, set arch.Arch) (*point, error) {
	if p := sp.points[addr]; p != nil {
		if p.planted || p.queued || s.unchanged(p) {
			return p, nil
		}
		delete(sp.points, addr)
	}
	p, err := s.preparePoint(sp, addr, mod, set)
	if err != nil {
		return nil, err
	}
	sp.points[addr] = p
	sp.lo, sp.hi = min(sp.lo, addr), max(sp.hi, addr+uint64(len(p.trap)))
	return p, nil
}

// unchanged reports whether the instruction of a point that is not planted is still the one that was prepared.
func (s *Session) unchanged(p *point) bool {
	code := p.sp.code(p.addr, p.length)
	in := p.site.Insn()
	return len(code) == p.length && slices.Equal(code, in.Bytes[:p.length])
}

// longestInsn is how many bytes are read to decode an instruction.
const longestInsn = 15

func (s *Session) preparePoint(sp *space, addr uint64, mod *module.Loaded, set arch.Arch) (*point, error) {
	if set == nil {
		return nil, &arch.RefusedError{Addr: addr, Reason: "data between the code"}
	}
	code := sp.code(addr, longestInsn)
	if len(code) == 0 {
		return nil, &arch.RefusedError{Addr: addr, Reason: "no memory is mapped there"}
	}
	in, err := set.Decode(code, addr)
	if err != nil {
		return nil, fmt.Errorf("cannot probe %#x: %w", addr, err)
	}
	if err := compareWithFile(sp.arch, code[:in.Len], addr, mod); err != nil {
		return nil, err
	}
	site, err := set.Prepare(in)
	if err != nil {
		return nil, err
	}
	if inExclusive(sp, addr, mod, set) {
		return nil, &arch.RefusedError{Addr: addr, Reason: "it is between a load-exclusive and its store-exclusive, which would never succeed"}
	}
	if in.Control == arch.Syscall {
		s.callPoints++
	}
	trap := set.Breakpoint(in)
	p := &point{s: s, sp: sp, addr: addr, site: site, length: in.Len, how: s.strategy(site, sp.arch.WordSize()), trap: trap, orig: code[:len(trap)]}
	p.At = p
	p.alone = sp.arch.NeedsStopWorld != nil && sp.arch.NeedsStopWorld(in)
	if f, ok := site.(arch.FloatSite); ok && f.LeavesAddress() {
		p.float = f
	}
	return p, nil
}

// inExclusive reports whether an address is in a sequence of exclusive accesses.
func inExclusive(sp *space, addr uint64, mod *module.Loaded, set arch.Arch) bool {
	if !sp.arch.Monitors() {
		return false
	}
	return sp.exclusives.Have(addr, mod, func(start uint64, size int) []uint64 {
		return sp.arch.Exclusives(sp.code(start, size), start, set)
	})
}

// compareWithFile makes sure that what is in memory is what the file has: otherwise the file was changed under the
// process, or another debugger has a breakpoint there.
func compareWithFile(a *abi.ABI, code []byte, addr uint64, mod *module.Loaded) error {
	if mod == nil || mod.File == nil {
		return nil
	}
	want, err := mod.File.Code(mod.Vaddr(addr), len(code))
	if err != nil || len(want) < len(code) || slices.Equal(want, code) {
		return nil
	}
	if a.IsTrap(code) {
		return &arch.RefusedError{Addr: addr, Reason: "another debugger has a breakpoint there"}
	}
	return &arch.RefusedError{Addr: addr, Reason: "the code in memory is not that of the file " + mod.Path}
}

// strategy chooses how the instruction of a site is run displaced. A copy of a call pushes the address behind the copy, which is
// put right when the step is over; 32-bit code that is independent of its position calls to learn where it is, so that it would be
// wrong for good if the session were killed before that. An emulated call pushes what is right, and may be run again. So calls of
// 32-bit code are not stepped out of line.
func (s *Session) strategy(site arch.Site, word int) arch.Strategy {
	order := []arch.Strategy{site.Strategy(), arch.OutOfLine, arch.InPlace, arch.Emulated}
	switch s.cfg.Engine {
	case Emulate:
		order = []arch.Strategy{arch.Emulated, arch.OutOfLine, arch.InPlace}
	case Step:
		order = []arch.Strategy{arch.OutOfLine, arch.InPlace, arch.Emulated}
		if word == 4 && site.Insn().Control == arch.Call {
			order = []arch.Strategy{arch.Emulated, arch.InPlace, arch.OutOfLine}
		}
	}
	if s.inPlaceOnly {
		order = []arch.Strategy{arch.InPlace, arch.Emulated}
	}
	for _, how := range order {
		if how != arch.Refused && site.Allowed(how) {
			return how
		}
	}
	return arch.Refused
}

// sync plants the breakpoint of a point if it is wanted, and takes it away if it is not. While a batch is gathered it is planted with
// that: see together.go. What the engine itself watches is planted at once.
//
// Writing while threads run is safe on x86. The breakpoint is one byte, and a byte is written in one piece: another
// processor that fetches the instruction meanwhile sees either all of the old first byte or all of the new one. With the
// new byte it traps at the first byte, and the remaining bytes mean nothing. No thread can be between the first
// byte and the rest, because instructions are not interrupted in their middle (a repeated string instruction that is, is
// fetched again from its first byte, and is then hit, which the step continues). The write goes to a private
// copy of the page, so no other process sees it. The kernel maps the copy in place of the old page and flushes the
// translations of other processors before it lets them go on; a processor that has fetched the old byte already has run
// the instruction before the probe was armed, as far as anybody can tell.
func (s *Session) sync(p *point) error {
	want := p.wanted() && !s.closing
	switch {
	case want && p.queued:
	case want && !p.planted && s.batch != nil && p.internal == nil && len(p.picks) == 0:
		return s.queue(p)
	case want && !p.planted:
		return s.plant(p)
	case !want && p.queued:
		s.unqueue(p)
	case !want && p.planted:
		return s.unplant(p)
	}
	return nil
}

// plant plants the breakpoint of a point that is wanted.
func (s *Session) plant(p *point) error {
	if n := p.Counted(); s.points+n > s.cfg.MaxProbes {
		return backend.TooManyError{Limit: s.cfg.MaxProbes, Wanted: s.points + n}
	}
	now, err := p.present()
	if err != nil {
		return fmt.Errorf("cannot place a probe at %#x: %w", p.addr, err)
	}
	if !bytes.Equal(now, p.orig) {
		return errChanged(p)
	}
	stopped := s.stoppedTid(p.sp)
	p.sp.record(p, stopped)
	if err := s.writeCode(p, p.trap, stopped); err != nil {
		return fmt.Errorf("cannot place a probe at %#x: %w", p.addr, err)
	}
	p.notePlanted(true)
	return nil
}

// present is what is in memory where the breakpoint is, or would be.
func (p *point) present() ([]byte, error) {
	now := make([]byte, len(p.trap))
	return now, p.sp.mem.Peek(p.addr, now)
}

// writeCode writes a breakpoint, or what it displaces. stopped is a stopped thread, or 0.
func (s *Session) writeCode(p *point, code []byte, stopped int) error {
	s.pause(p.sp)
	return p.sp.mem.Poke(p.addr, code, stopped)
}

// unplant restores the original byte. What is no breakpoint any more was written by somebody else and is left alone.
func (s *Session) unplant(p *point) error {
	p.notePlanted(false)
	return s.restore(p, s.stoppedTid(p.sp))
}

// errGone says that the memory of a point is no longer there.
var errGone = backend.ErrGone

// restore writes the original byte over a breakpoint and reads it back. stopped is a stopped thread, or 0.
func (s *Session) restore(p *point, stopped int) error {
	now, err := p.present()
	if err != nil {
		return errGone
	}
	if !bytes.Equal(now, p.trap) {
		return nil
	}
	if err := s.writeCode(p, p.orig, stopped); err != nil {
		if _, gone := p.present(); gone != nil { // killed in between
			return errGone
		}
		return fmt.Errorf("cannot restore the instruction at %#x: %w", p.addr, err)
	}
	if now, err = p.present(); err != nil {
		return errGone
	}
	if !bytes.Equal(now, p.orig) {
		return fmt.Errorf("cannot restore the instruction at %#x: there is %x, not %x", p.addr, now, p.orig)
	}
	return nil
}

// isBreakpoint reports whether there is a breakpoint in memory at the point, whoever put it there.
func (p *point) isBreakpoint() bool {
	now, err := p.present()
	return err == nil && bytes.Equal(now, p.trap)
}

// restoreAll takes all breakpoints out of an address space, those last that keep threads from blocking SIGTRAP (sigmask.go). Memory that is gone is no
// error.
func (s *Session) restoreAll(sp *space) error {
	planted := map[int][]*point{}
	for _, p := range sp.points {
		if p.planted {
			planted[p.signalCall] = append(planted[p.signalCall], p)
		}
	}
	failed := map[*point]error{}
	for _, kind := range []int{0, signalCallEnds, signalCallAny, signalCallBegins} {
		s.rewrite(sp, planted[kind], false, failed)
	}
	var all error
	for _, err := range failed {
		if !errors.Is(err, errGone) {
			all = errors.Join(all, err)
		}
	}
	return all
}

// copyPoints gives a forked child's address space, which is a copy of its parent's, points of its own. The parent's
// may have changed between the fork and now, so each byte is compared with what it should be.
func (s *Session) copyPoints(from, to *space) {
	to.lo, to.hi, to.mods = from.lo, from.hi, from.mods
	to.slots = from.slots.copy()
	to.sealed = from.sealed
	to.guard = from.guard.copy()
	to.checkRegion()
	to.sems = from.sems.Clone()
	to.seesMasks, to.keys = from.seesMasks, from.keys
	var copies retprobe.Copies
	for addr, p := range from.points {
		q := *p
		q.At, q.sp, q.steps, q.unsure, q.picks = &q, to, 0, true, slices.Clone(p.picks)
		copies.Add(&p.Point, &q.Point)
		to.points[addr] = &q
		if q.resting {
			s.meter.rested = append(s.meter.rested, &q)
		}
	}
	copies.Finish()
	to.loader = from.loader
	for _, q := range to.points {
		q.planted = false
		s.assert(q)
	}
}

// assert makes the byte of a point in a child's memory what it should be.
func (s *Session) assert(q *point) {
	want := q.wanted() && !s.closing
	if has := q.isBreakpoint(); has != want {
		code := q.orig
		if want {
			code = q.trap
			q.sp.record(q, s.stoppedTid(q.sp))
		}
		if s.writeCode(q, code, s.stoppedTid(q.sp)) != nil {
			return
		}
	}
	q.planted = want
	if want {
		s.points += q.Counted()
	}
}

// trapCode is the code of the SIGTRAP that a thread is stopped with.
func (t *thread) trapCode() int {
	if ptrace.GetSigInfo(t.tid, &t.info) != 0 {
		return 0
	}
	return t.info.Code()
}
