package trampoline

import (
	"cmp"
	"errors"
	"slices"

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
	copies     []uint64 // the address of the copy of each of them
	behindHead uint64   // the address behind the copies of those in front of the place
	reads      []native.Read
	p          *space.Point
}

// noteStub adds a stub. Stubs are written one behind the other, but there may be several areas for them.
func (j *spaceJumps) noteStub(p *space.Point, at uint64, code *native.Stub) {
	s := stub{start: at, end: at + uint64(len(code.Code)), behindHead: at, p: p, reads: code.Reads}
	note := func(begin uint64, offsets []int) {
		for _, off := range offsets {
			s.copies = append(s.copies, begin+uint64(off))
		}
	}
	w := &p.Jump.Window
	if n := p.Jump.Before; n > 0 {
		head, offsets, _ := w.CopyFirst(n, at) // it has been copied once
		note(at, offsets)
		s.behindHead += uint64(len(head))
	}
	rest, tail := w.Rest(p.Jump.Before), at+uint64(code.Tail)
	_, offsets, _ := rest.Copy(tail)
	note(tail, offsets)
	i, _ := slices.BinarySearchFunc(j.stubs, at, func(o stub, at uint64) int { return cmp.Compare(o.start, at) })
	j.stubs = slices.Insert(j.stubs, i, s)
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
	i := slices.Index(s.copies, *t.PC())
	if i < 0 || i >= len(s.p.Jump.Window.Insns) {
		return
	}
	in := &s.p.Jump.Window.Insns[i]
	if i > 0 {
		if p := t.proc.Space.ByAddr[s.p.Addr]; p != nil && p.Jump.In {
			t.by.removeJumps([]*space.Point{p})
			t.by.drop(p, errFaulted)
		}
	}
	if ptrace.GetSigInfo(t.Tid, &t.Info) == 0 && t.Info.Addr()-s.copies[i] < uint64(in.Len) { // of a fault in the instruction itself
		t.Info.SetAddr(in.Addr + t.Info.Addr() - s.copies[i])
		ptrace.SetSigInfo(t.Tid, &t.Info)
	}
	*t.PC() = in.Addr
	t.SetRegs()
}
