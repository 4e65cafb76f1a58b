package trampoline

import (
	"bytes"
	"errors"

	"gotap/engine/abi"
	"gotap/engine/inline"
	"gotap/engine/linux/hostcpu"
	"gotap/engine/linux/ptrace"
	"gotap/engine/space"
	"gotap/runtime/arena"
	"gotap/runtime/native"
	"gotap/runtime/native/amd64"
	"gotap/runtime/native/arm64"
)

// machine is what differs between the processors that have native code.
type machine struct {
	features native.Features
	aligned  uint64 // what the stack pointer is to be a multiple of, because native code uses the stack; 0: it does not matter
	searched bool   // the code of a file is searched before a place there gets a jump
	// returns reports whether a function that ends at a point has its return address where its caller has put it. Nil:
	// all have.
	returns func(p *space.Point) bool
	trap    []byte // of a doorbell
	silent  []byte // what the crash handler makes of one that nobody answers, a nop: a way to the end of the stub follows
	// ring makes the registers of a thread whose read has faulted what they would be if its doorbell had rung.
	ring func(f *native.Read, stub uint64, regs []uint64)
	// emit makes native code that runs programs at a point, for an address in an island.
	emit func(t *Thread, p *space.Point, programs []native.Program, island *inline.Island, at uint64) (*native.Stub, error)
}

var (
	onAMD64 = &machine{features: amd64.Features, searched: true, trap: []byte{0xcc}, silent: []byte{0x90}, ring: amd64.Ring, emit: emitAMD64}
	onARM64 = &machine{features: arm64.Features, aligned: 16, returns: endsInRet, trap: []byte{0x00, 0x00, 0x20, 0xd4}, silent: []byte{0x1f, 0x20, 0x03, 0xd5}, ring: arm64.Ring, emit: emitARM64}
)

// machineOf returns that of an address space; nil: native code is not made for it.
func machineOf(sp *space.Space) *machine {
	switch sp.ABI {
	case &abi.AMD64:
		return onAMD64
	case &abi.ARM64:
		return onARM64
	}
	return nil
}

var errMisaligned = errors.New("the stack pointer is misaligned there")

// endsInRet reports whether a function ends at a point in an instruction that leads to where x30 says, and computes
// nothing: ret, and not one that authenticates the address first.
func endsInRet(p *space.Point) bool { return bytes.Equal(p.Orig, []byte{0xc0, 0x03, 0x5f, 0xd6}) }

// ownData returns the address of the own data of a thread, by which native code knows it, or 0. The thread has stopped,
// and its registers have been read.
func (t *Thread) ownData() uint64 {
	switch t.proc.Space.ABI {
	case &abi.AMD64:
		return t.Regs[fsBase]
	case &abi.ARM64:
		base, _ := ptrace.ThreadPointer(t.Tid)
		return base
	}
	return 0
}

// emitAMD64 is machine.emit of x86-64.
func emitAMD64(t *Thread, p *space.Point, programs []native.Program, island *inline.Island, at uint64) (*native.Stub, error) {
	c := t.by
	w, site := &p.Jump.Window, amd64.Site{}
	if c.calls.noClock == nil {
		site.Clock = c.calls.clock.Offset()
	}
	if c.knowsThreads(p.Space) {
		site.Owners, site.Stacks = codeIn(p.Space).calls.owners.Offset(), c.calls.stacks.Offset()
		site.SelfAddressed, site.Shares = codeIn(p.Space).calls.selfAddressed(t), c.counts(p.Space)
	}
	if codeIn(p.Space).reads.table != nil {
		site.Ranges = codeIn(p.Space).reads.table.Offset()
	}
	if site.Operand = operandOf(p); site.Operand != nil && codeIn(p.Space).reads.writable != nil {
		site.Writable = codeIn(p.Space).reads.writable.Offset()
	}
	site.Ring = c.set.Arena.RingLayout()
	site.Addr, site.Place, site.Pid = at, p.Addr, uint32(t.proc.Pid)
	site.Arena, site.Control = island.Arena, island.Arena+arena.ControlOffset
	site.RedZone, site.Flags, site.Pairs = !w.RedZoneFree, !w.FlagsDead, hostcpu.SwapsPairs()
	if n := p.Jump.Before; n > 0 {
		site.Flags, site.RedZone = true, false // a return follows, behind which the function has nothing below the stack pointer
		site.Head = func(at uint64) ([]byte, error) {
			code, _, err := w.CopyFirst(n, at)
			return code, err
		}
	}
	if p.Jump.InGo {
		site.Room = inline.GoRoom
	}
	rest := w.Rest(p.Jump.Before)
	site.Tail = func(at uint64) ([]byte, error) {
		code, _, err := rest.Copy(at)
		return code, err
	}
	return amd64.Emit(programs, site)
}

// emitARM64 is machine.emit of 64-bit ARM.
func emitARM64(t *Thread, p *space.Point, programs []native.Program, island *inline.Island, at uint64) (*native.Stub, error) {
	c := t.by
	site := arm64.Site{
		Addr: at, Place: p.Addr, Arena: island.Arena, Control: island.Arena + arena.ControlOffset, Pid: uint32(t.proc.Pid), Atomics: hostcpu.AddsAtomically(), Scalable: hostcpu.HasScalable(),
		Ring: c.set.Arena.RingLayout(), Tail: func(at uint64) ([]byte, error) {
			code, _, err := p.Jump.Window.Copy(at)
			return code, err
		}}
	if c.calls.noClock == nil {
		site.Clock = c.calls.clock.Offset()
	}
	if c.knowsThreads(p.Space) {
		site.Owners, site.Stacks = codeIn(p.Space).calls.owners.Offset(), c.calls.stacks.Offset()
	}
	if codeIn(p.Space).reads.table != nil {
		site.Ranges = codeIn(p.Space).reads.table.Offset()
	}
	return arm64.Emit(programs, site)
}
