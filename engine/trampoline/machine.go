package trampoline

import (
	"errors"

	"gotap/engine/abi"
	"gotap/engine/inline"
	"gotap/engine/linux/hostcpu"
	"gotap/engine/space"
	"gotap/runtime/arena"
	"gotap/runtime/native"
	"gotap/runtime/native/amd64"
	"gotap/runtime/native/arm64"
)

// machine is what differs between the processors that have native code.
type machine struct {
	features native.Features
	always   bool   // native code runs with Mixed, too
	follows  bool   // it follows calls, and knows its thread, the time and what can be read
	trap     []byte // of a doorbell
	silent   []byte // what the crash handler makes of one that nobody answers, a nop: a way to the end of the stub follows
	// ring makes the registers of a thread whose read has faulted what they would be if its doorbell had rung.
	ring func(f *native.Read, stub uint64, regs []uint64)
	// emit makes native code that runs programs at a point, for an address in an island.
	emit func(t *Thread, p *space.Point, programs []native.Program, island *inline.Island, at uint64) (*native.Stub, error)
}

var (
	onAMD64 = &machine{features: amd64.Features, always: true, follows: true, trap: []byte{0xcc}, silent: []byte{0x90}, ring: amd64.Ring, emit: emitAMD64}
	onARM64 = &machine{features: arm64.Features, trap: []byte{0x00, 0x00, 0x20, 0xd4}, silent: []byte{0x1f, 0x20, 0x03, 0xd5}, emit: emitARM64}
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

// Reasons why programs stop the threads of some processors.
var (
	errNotAuto   = errors.New("only --engine inline runs programs inside of processes of 64-bit ARM")
	errNoFollows = errors.New("native code for 64-bit ARM does not follow calls to their return")
)

// emitARM64 is machine.emit of 64-bit ARM.
func emitARM64(t *Thread, p *space.Point, programs []native.Program, island *inline.Island, at uint64) (*native.Stub, error) {
	return arm64.Emit(programs, arm64.Site{
		Addr: at, Place: p.Addr, Arena: island.Arena, Control: island.Arena + arena.ControlOffset, Pid: uint32(t.proc.Pid), Atomics: hostcpu.AddsAtomically(),
		Tail: func(at uint64) ([]byte, error) {
			code, _, err := p.Jump.Window.Copy(at)
			return code, err
		}})
}
