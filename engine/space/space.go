package space

import (
	"bytes"
	"encoding/binary"
	"iter"
	"slices"

	"gotap/engine/abi"
	"gotap/engine/crashsafe"
	"gotap/engine/emulation"
	"gotap/engine/executor"
	"gotap/engine/image/module"
	"gotap/engine/inject"
	"gotap/engine/inline"
	"gotap/engine/isa"
	"gotap/engine/linux/ptrace"
	"gotap/engine/registry/retprobe"
	"gotap/engine/semaphore"
)

// Space is an address space with the breakpoints in it. Processes share a space between vfork and exec, and after a
// clone with CLONE_VM.
type Space struct {
	Mem    *ptrace.Memory
	ABI    *abi.ABI
	Users  int // number of processes
	ByAddr map[uint64]*Point
	lo, hi uint64 // all points are at or above lo and below hi

	Modules []module.Loaded
	Unarmed bool // the modules are known, but no probe has been armed in them
	Loader  LoaderWatch
	slots   Slots
	Native  Native // what the executor that runs programs here without a stop has put into it; nil: nothing
	// Starts has the points that have or had a jump, by its address: by each, if it was not always the same. A thread may
	// have stopped at an earlier one, and its stop be reported only later.
	Starts map[uint64]*Point
	// Springboards has, by address, the springboards that are written, or may be.
	Springboards map[uint64]*Springboard
	Guard        crashsafe.Space
	Exclusives   isa.Exclusives // of the present code
	Gadget       inject.Gadget  // where system calls of probed places are made; zero: not known yet
	Errno        isa.ErrnoFunction
	VDSO         VDSO
	Semaphores   semaphore.Counts // of probes on marks
	Keyed        emulation.Keyed
	Unpatched    bool // temporarily without breakpoints: see Repatch
	fresh        bool // of a child that has not come to its first stop: nothing is planted in it
	sealed       bool // nothing can be mapped into it: a seccomp filter, or no room for the code of a system call
}

// Read fills p from addr as the program would see it without breakpoints. It returns how many bytes could be read.
func (sp *Space) Read(addr uint64, p []byte) int {
	n := sp.Mem.ReadAvailable(addr, p)
	if addr < sp.hi && addr+uint64(n) > sp.lo {
		sp.mask(addr, p[:n])
	}
	return n
}

// mask puts the original bytes into what was read at addr.
func (sp *Space) mask(addr uint64, p []byte) {
	if len(sp.ByAddr) < len(p) {
		for _, pt := range sp.ByAddr {
			pt.maskIn(addr, p)
		}
		for _, s := range sp.Springboards {
			s.mask(addr, p)
		}
		return
	}
	for at := addr - (longestTrap - 1); at != addr+uint64(len(p)); at++ {
		if pt := sp.ByAddr[at]; pt != nil {
			pt.maskIn(addr, p)
		}
		if pt := sp.Starts[at]; pt != nil && pt.Addr != at {
			pt.maskIn(addr, p)
		}
		if s := sp.Springboards[at]; s != nil {
			s.mask(addr, p)
		}
	}
}

// longestTrap is the length of the longest breakpoint or jump.
const longestTrap = inline.JumpSize

// maskIn puts the original bytes of one point into what was read at addr, as far as they overlap.
func (p *Point) maskIn(addr uint64, read []byte) {
	if !p.Planted {
		return
	}
	executor.Overlay(addr, read, p.Addr, p.Orig)
	if p.Jump.In {
		executor.Overlay(addr, read, p.Jump.Code.Addr, p.Jump.Code.Orig[:p.Jump.Code.Len])
	}
}

// Code reads up to n bytes of code at addr, without our breakpoints and regardless of the page protection.
func (sp *Space) Code(addr uint64, n int) []byte {
	p := make([]byte, n)
	p = p[:sp.Mem.PeekAvailable(addr, p)]
	sp.mask(addr, p)
	return p
}

// Peek reads memory regardless of its protection, without breakpoints. It returns how many bytes could be read.
func (sp *Space) Peek(addr uint64, p []byte) int {
	n := sp.Mem.PeekAvailable(addr, p)
	if addr < sp.hi && addr+uint64(n) > sp.lo {
		sp.mask(addr, p[:n])
	}
	return n
}

// Native is what an executor has put into an address space.
type Native interface {
	// Maps reports whether any of n bytes at an address is in memory that the executor has mapped there.
	Maps(addr uint64, n int) bool
}

// Occupies reports whether any of n bytes at addr belongs to a breakpoint, a jump, or native code and its memory.
func (sp *Space) Occupies(addr uint64, n int) bool {
	return sp.overBreakpoint(addr, n) || sp.Native != nil && sp.Native.Maps(addr, n)
}

// overBreakpoint reports whether any of n bytes at addr belongs to a breakpoint or a jump.
func (sp *Space) overBreakpoint(addr uint64, n int) bool {
	if addr >= sp.hi || addr+uint64(n) <= sp.lo {
		return false
	}
	for at := addr - (longestTrap - 1); at != addr+uint64(n); at++ {
		if pt := sp.ByAddr[at]; pt != nil && pt.covers(addr) {
			return true
		}
		if pt := sp.Starts[at]; pt != nil && pt.covers(addr) {
			return true
		}
		if sp.Springboards[at] != nil {
			return true
		}
	}
	return false
}

// covers reports whether a point's breakpoint or jump ends behind an address.
func (p *Point) covers(addr uint64) bool {
	return p.Planted && (p.Addr+uint64(len(p.Orig)) > addr || p.Jump.In && p.Jump.Code.Addr+uint64(p.Jump.Code.Len) > addr)
}

// Private reports whether an address is in a private mapping of a module.
func (sp *Space) Private(addr uint64) bool {
	m := module.Find(sp.Modules, addr)
	if m == nil {
		return false
	}
	for _, one := range m.Mappings {
		if addr >= one.Start && addr < one.End {
			return !one.Shared
		}
	}
	return false
}

// Pointer implements goabi.Pointers: it reads a pointer of the target.
func (sp *Space) Pointer(addr uint64) (uint64, bool) {
	var word [8]byte
	if sp.Mem.Peek(addr, word[:sp.ABI.WordSize()]) != nil {
		return 0, false
	}
	return binary.LittleEndian.Uint64(word[:]), true
}

// AtPoint returns the owners of the point at an address, or nil if there is no point.
func (sp *Space) AtPoint(addr uint64) *retprobe.Point {
	if p := sp.ByAddr[addr]; p != nil {
		return &p.Point
	}
	return nil
}

// PlantedAt reports whether there is a breakpoint of ours at an address, or may be one for a moment.
func (sp *Space) PlantedAt(addr uint64) bool {
	p := sp.ByAddr[addr]
	return p != nil && p.Planted || sp.Starts[addr] != nil
}

// IsOf reports whether an address space is the one that a thread has right after an execve, because the process was
// attached to when it already had that space. All our breakpoints are in it then, and none would be in another. A space
// without breakpoints may as well be created again.
func (sp *Space) IsOf(tid int) bool {
	if sp.Users != 1 || sp.Mem.Gone() {
		return false
	}
	now, err := ptrace.OpenMemory(tid)
	if err != nil {
		return false
	}
	defer now.Close()
	planted := 0
	for _, pt := range sp.ByAddr {
		if !pt.Planted {
			continue
		}
		code := make([]byte, len(pt.Trap))
		if now.Peek(pt.Addr, code) != nil || !slices.Equal(code, pt.Trap) {
			return false
		}
		planted++
	}
	return planted > 0
}

// IsCopyOf reports whether a child's memory contains a breakpoint that another address space has.
func (sp *Space) IsCopyOf(of *Space) bool {
	if of.ABI != sp.ABI {
		return false
	}
	for addr, pt := range of.ByAddr {
		now := make([]byte, len(pt.Trap))
		if sp.Mem.Peek(addr, now) == nil && bytes.Equal(now, pt.Trap) {
			return true
		}
	}
	return false
}

// Points implements probes.Space.
func (sp *Space) Points() iter.Seq[*retprobe.Point] { return executor.OwnersOf(sp.ByAddr) }

// Gone implements probes.Space.
func (sp *Space) Gone() bool { return sp.Mem.Gone() }

// LoaderWatch is the breakpoint in the dynamic loader that reports modules being loaded and unloaded. It is on the
// function that every loader calls for debuggers before and after it changes its list (r_brk of struct r_debug, System
// V ABI). glibc and musl export the function under a name too, with which it is found before the loader has filled in
// the structure.
type LoaderWatch struct {
	At      uint64 // 0: none, because the program is static or the loader unknown
	Changes int    // number of calls the loader has made
	Debug   uint64 // address of its struct r_debug; 0: unknown
}

// States of the loader's list (r_state of struct r_debug).
const (
	ListConsistent = 0
	ListUnknown    = ^uint32(0)
)

// ListState reads the loader's state of its list.
func (sp *Space) ListState() uint32 {
	w := &sp.Loader
	var word [4]byte
	if w.Debug == 0 || sp.Mem.Peek(w.Debug+3*uint64(sp.ABI.WordSize()), word[:]) != nil {
		return ListUnknown
	}
	return binary.LittleEndian.Uint32(word[:])
}

// VDSO is the kernel's code in a process. Signal handlers return to it on IA-32 and AArch64, so stacks lead through
// it. No file contains it, and no probe is placed in it.
type VDSO struct {
	Asked  bool
	Lo, Hi uint64 // its mapping; both 0 if it is not mapped
	Bias   uint64
}

// Holds reports whether an address is in the vdso.
func (v *VDSO) Holds(addr uint64) bool { return addr >= v.Lo && addr < v.Hi }
