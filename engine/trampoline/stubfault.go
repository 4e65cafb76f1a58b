package trampoline

import (
	"cmp"
	"errors"
	"slices"

	"gotap/arch"
	"gotap/engine/linux/ptrace"
	"gotap/engine/space"
	"gotap/runtime/native"
)

// Instructions that fault in native code.
//
// The displaced instructions run at the end of a stub, but for those in front of the place. If one faults, the program
// must see the fault at the instruction's own address, and may repeat the instruction there. So the thread is moved to
// that address. Unless it is the first one, the jump is there: then the place gets its breakpoint back for good, before
// the thread goes on.
//
// After the session has been killed nobody does that: a handler of the program sees an address in the stub. It returns
// to the instruction there, which does the same.

// stub is native code in the memory of a process.
type stub struct {
	start, end uint64
	copies     []displaced // in the order of the instructions
	behindHead uint64      // the address behind the copies of those in front of the place
	reads      []native.Read
	p          *space.Point
}

// displaced is an instruction that a jump replaces, and where its copy begins and ends.
type displaced struct {
	insn    *arch.Insn
	at, end uint64
}

// noteStub adds a stub. Stubs are written one behind the other, but there may be several areas for them.
func (j *spaceJumps) noteStub(p *space.Point, at uint64, code *native.Stub) {
	s := stub{start: at, end: at + uint64(len(code.Code)), behindHead: at, p: p, reads: code.Reads}
	w := &p.Jump.Window
	if n := p.Jump.Before; n > 0 {
		head, offsets, _ := w.CopyFirst(n, at) // it has been copied once
		s.note(w.Insns[:n], at, head, offsets)
		s.behindHead += uint64(len(head))
	}
	rest, tail := w.Rest(p.Jump.Before), at+uint64(code.Tail)
	copied, offsets, _ := rest.Copy(tail)
	s.note(rest.Insns, tail, copied, offsets)
	i, _ := slices.BinarySearchFunc(j.stubs, at, func(o stub, at uint64) int { return cmp.Compare(o.start, at) })
	j.stubs = slices.Insert(j.stubs, i, s)
}

// note adds instructions whose copies begin at these offsets of code, which is at an address.
func (s *stub) note(insns []arch.Insn, at uint64, code []byte, offsets []int) {
	for i := range insns {
		end := len(code)
		if i+1 < len(offsets) {
			end = offsets[i+1]
		}
		s.copies = append(s.copies, displaced{&insns[i], at + uint64(offsets[i]), at + uint64(end)})
	}
}

// original returns the address at which the program would be without the jump, if a thread has just executed a
// displaced instruction, or is about to. Otherwise it returns false: the thread executes a program, or is outside.
func (s *stub) original(pc uint64) (addr uint64, ok bool) {
	for _, d := range s.copies {
		if pc == d.at {
			return d.insn.Addr, true
		}
	}
	for _, d := range s.copies {
		if d.at < pc && (pc < d.end || pc == s.behindHead && pc == d.end) {
			return d.insn.Addr + uint64(d.insn.Len), true
		}
	}
	return 0, false
}

// stubAt returns the stub that contains an address, or nil.
func (j *spaceJumps) stubAt(addr uint64) *stub {
	i, found := slices.BinarySearchFunc(j.stubs, addr, func(o stub, addr uint64) int { return cmp.Compare(o.start, addr) })
	if !found {
		i--
	}
	if i < 0 || addr >= j.stubs[i].end {
		return nil
	}
	return &j.stubs[i]
}

var errFaulted = errors.New("an instruction that the jump replaces has faulted")

// LeaveStub moves a thread that is stopped with a signal which its instruction raised from the copy of a displaced
// instruction to the instruction itself.
func (t *Thread) LeaveStub(sig int) {
	if !t.GetRegs() || !t.parts.Queue.Raised(sig) {
		return
	}
	s := codeIn(t.proc.Space).jumps.stubAt(*t.PC())
	if s == nil {
		return
	}
	i := slices.IndexFunc(s.copies, func(d displaced) bool { return d.at == *t.PC() })
	if i < 0 {
		return
	}
	d := s.copies[i]
	if i > 0 {
		if p := t.proc.Space.ByAddr[s.p.Addr]; p != nil && p.Jump.In {
			t.by.removeJumps([]*space.Point{p})
			t.by.drop(p, errFaulted)
		}
	}
	if ptrace.GetSigInfo(t.Tid, &t.Info) == 0 && t.Info.Addr()-d.at < uint64(d.insn.Len) { // of a fault in the instruction itself
		t.Info.SetAddr(d.insn.Addr + t.Info.Addr() - d.at)
		ptrace.SetSigInfo(t.Tid, &t.Info)
	}
	*t.PC() = d.insn.Addr
	t.SetRegs()
}

// Displaced returns where a thread whose registers have been read would be without the jump, if it has just executed a
// displaced instruction: place is that address. Otherwise place is its program counter. In a program, whose accesses are
// not the target's, own is true.
func (t *Thread) Displaced() (place uint64, own bool) {
	s := codeIn(t.proc.Space).jumps.stubAt(*t.PC())
	if s == nil {
		return *t.PC(), false
	}
	if addr, ok := s.original(*t.PC()); ok {
		return addr, false
	}
	return *t.PC(), true
}
