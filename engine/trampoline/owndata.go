package trampoline

import (
	"encoding/binary"
	"errors"

	"gotap/arch"
	"gotap/engine/abi"
	"gotap/engine/space"
)

// The own data of a thread, which the base of fs leads to. Native code knows a thread by their address. An instruction
// tells it (rdfsbase), which takes 3 ns, and which some kernels and virtual machines do not allow; where the data begin
// with their address, native code reads that instead. A
// thread whose data begin with the address of another one's would then pass for that one: so a thread's first word is
// looked at when it is born (Born). A thread that changes the base of fs later must lead it to data of that kind, as
// all code wants that uses thread-local variables.

// fsBase is the index of the base of fs in the registers.
var fsBase, _, _, _ = abi.AMD64.Arch.RegIndex("fs_base")

// selfAddressed reports whether the data of a thread, and of all that have a stack, begin with their address: those of
// the C libraries do, because the ABI for thread-local variables wants it; those of Go's runtime do not. A thread has
// none while it starts.
func (n *spaceCalls) selfAddressed(t *Thread) bool {
	is := func(base uint64) bool {
		first, ok := firstWord(t.proc.Space, base)
		return ok && first == base
	}
	for base := range n.owns.threads {
		if !is(base) {
			return false
		}
	}
	return is(t.Regs[fsBase])
}

// errStarts is why a place gets no jump yet.
var errStarts = errors.New("its thread has no data of its own yet")

// findBase finds out how native code of an address space, in which a thread has stopped, can tell the threads apart. If
// it cannot, programs that need to know their thread do not run natively. The error is errStarts if that cannot be said
// before the thread has its own data.
func (t *Thread) findBase(sp *space.Space) error {
	n := &codeIn(sp).calls
	switch {
	case sp.ABI != &abi.AMD64 || t.by.calls.none != nil || t.by.calls.readsBase || n.noBase:
	case t.Regs[fsBase] == 0:
		return errStarts
	default:
		n.noBase = !n.selfAddressed(t)
	}
	return nil
}

// knowsThreads reports whether native code of an address space can tell its threads apart, as far as is known.
func (c *Executor) knowsThreads(sp *space.Space) bool {
	return c.calls.none == nil && !codeIn(sp).calls.noBase
}

// firstWord returns the first word of the thread's own data at a base of fs; ok is false if it cannot be read.
func firstWord(sp *space.Space, base uint64) (word uint64, ok bool) {
	var b [8]byte
	ok = sp.Mem.Peek(base, b[:]) == nil
	return binary.LittleEndian.Uint64(b[:]), ok
}

// errnoOffset returns where errno of each thread of an address space lies, from the start of its own data on, or 0 if
// that is not known.
func errnoOffset(sp *space.Space) int64 {
	entry, ok := sp.Errno.In(sp.Modules)
	if !ok || sp.ABI != &abi.AMD64 {
		return 0
	}
	offset, _ := sp.ABI.ISA.ErrnoOffset(entry, spaceMemory{sp}, sp.Modules)
	return offset
}

// spaceMemory is the memory of an address space, as its program sees it, for what only reads.
type spaceMemory struct{ *space.Space }

// ReadMemory implements arch.Memory.
func (m spaceMemory) ReadMemory(addr uint64, p []byte) error {
	if m.Read(addr, p) < len(p) {
		return &arch.FaultError{Addr: addr}
	}
	return nil
}

// WriteMemory implements arch.Memory.
func (m spaceMemory) WriteMemory(addr uint64, p []byte) error {
	return &arch.FaultError{Addr: addr, Write: true}
}
