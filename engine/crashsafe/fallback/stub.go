package fallback

import (
	"bytes"
	"encoding/binary"
	"slices"

	"gotap/arch"
	"gotap/arch/x86"
)

// StubSize is the maximum size of a stub.
const StubSize = 192

// Stubs is the number of stubs for which a region has room. A session uses one of them and the next session uses
// the next, because a thread may still be in the stub of a session that was killed.
const Stubs = (listAt - StubAt) / StubSize

// MaskCallAt returns where code of Stub begins, for a word size, if no other call is to be made than that for the mask.
func MaskCallAt(at uint64, word int) uint64 { return at + uint64(len(calls[word].insn)) }

// StubPlace returns the address of stub n of a region, and the address and the bytes to write to make n known to
// the next session.
func StubPlace(base uint64, n int) (at, noteAt uint64, note []byte) {
	return base + StubAt + uint64(n)*StubSize, base + stubAt, binary.LittleEndian.AppendUint32(nil, uint32(n))
}

// calls holds the system call instruction and the number of rt_sigprocmask, by word size.
var calls = map[int]struct {
	insn     []byte
	procmask uint32
}{8: {[]byte{0x0f, 0x05}, 14}, 4: {[]byte{0xcd, 0x80}, 175}}

// setMask is the argument of rt_sigprocmask that replaces the mask (SIG_SETMASK).
const setMask = 2

// Stub returns code for an address that makes the system call for which the registers are set, sets the thread's
// signal mask, loads the registers that both calls and their arguments change, and continues at the program counter
// of home. So if a tracer sends a thread through the code and then dies, the thread continues as if nothing had
// happened: nobody has to restore its registers. A mov changes no flags, and the kernel preserves them.
func Stub(at uint64, home *arch.Regs, mask uint64, word int) []byte {
	return stub(nil, at, home, mask, word)
}

func stub(before []byte, at uint64, home *arch.Regs, mask uint64, word int) []byte {
	if word == 4 {
		return stub32(before, uint32(at), home, mask)
	}
	return stub64(before, at, home, mask)
}

// Code that sets the program's action for SIGTRAP itself, in place of a thread's call for which the tracer has put the
// action into the region instead. It is made for the case that the tracer dies before the thread has left it: then the
// code begins with a breakpoint, which is in the table, so the handler removes all breakpoints, and then makes the call
// with the program's action.

// ActionStub returns such code for x86, to be placed where StubTrap says. It makes the system call for which the
// registers are set, like that of Stub.
func ActionStub(at uint64, home *arch.Regs, own Action, mask uint64, word int) []byte {
	c := stub([]byte{int3}, at, home, mask, word)
	copy(c[stubOwn:], own.Bytes(word))
	return c
}

// ReturnTrap returns such code for ARM, without the frame: see ReturnCode.
func (n *Native) ReturnTrap(own Action) []byte {
	c := append(slices.Clone(n.trap), ReturnCode(n.word)...)
	return append(append(c, make([]byte, returnOwn-len(c))...), own.Bytes(n.word)...)
}

// Offsets in such code of the program's action, which is its argument.
const (
	stubOwn   = maskOffset - ActionSize
	returnOwn = FrameAt - StubAt - ActionSize
)

// StubTrap returns the breakpoint that such code begins with, for the table: it has to be restored after all others.
// own is the address of the program's action.
func (n *Native) StubTrap(r *Region) (d Displaced, own uint64) {
	at, off := r.Base+StubAt, uint64(returnOwn)
	if len(n.trap) == 1 {
		at, _, _ = StubPlace(r.Base, r.Stub)
		off = stubOwn
	}
	return Displaced{at, n.nop, n.trap}, at + off
}

// BeginsStub reports whether code begins like the code that a thread is sent through: that of Stub or of
// ReturnCode.
func (n *Native) BeginsStub(code []byte) bool {
	if c, ok := calls[n.word]; ok && bytes.HasPrefix(code, c.insn) {
		return bytes.HasPrefix(code, Stub(0, &arch.Regs{}, 0, n.word)[:len(c.insn)+5]) // the call, and the number of the next
	}
	return bytes.HasPrefix(code, ReturnCode(n.word))
}

// maskOffset is the offset of the mask in a stub.
const maskOffset = StubSize - 8

func stub64(before []byte, at uint64, home *arch.Regs, mask uint64) []byte {
	le := binary.LittleEndian
	c := append(append(make([]byte, 0, StubSize), before...), calls[8].insn...)
	c = le.AppendUint32(append(c, 0xb8), calls[8].procmask)   // mov $…, %eax
	c = le.AppendUint32(append(c, 0xbf), setMask)             // mov $…, %edi
	c = le.AppendUint64(append(c, 0x48, 0xbe), at+maskOffset) // mov $…, %rsi
	c = le.AppendUint32(append(c, 0xba), 0)                   // mov $0, %edx
	c = le.AppendUint32(append(c, 0x41, 0xba), 8)             // mov $8, %r10d
	c = append(c, calls[8].insn...)
	for _, r := range [...]struct {
		rex, op byte
		index   int
	}{
		{0x48, 0xb8, x86.RAX}, {0x48, 0xb9, x86.RCX}, {0x48, 0xba, x86.RDX}, {0x48, 0xbe, x86.RSI}, {0x48, 0xbf, x86.RDI},
		{0x49, 0xb8, x86.R8}, {0x49, 0xb9, x86.R9}, {0x49, 0xba, x86.R10}, {0x49, 0xbb, x86.R11},
	} {
		c = le.AppendUint64(append(c, r.rex, r.op), home[r.index])
	}
	c = append(c, 0xff, 0x25, 0, 0, 0, 0) // jmp *0(%rip)
	c = le.AppendUint64(c, home[x86.RIP])
	return withMask(c, mask)
}

func stub32(before []byte, at uint32, home *arch.Regs, mask uint64) []byte {
	le := binary.LittleEndian
	c := append(append(make([]byte, 0, StubSize), before...), calls[4].insn...)
	c = le.AppendUint32(append(c, 0xb8), calls[4].procmask) // mov $…, %eax
	c = le.AppendUint32(append(c, 0xbb), setMask)           // mov $…, %ebx
	c = le.AppendUint32(append(c, 0xb9), at+maskOffset)     // mov $…, %ecx
	c = le.AppendUint32(append(c, 0xba), 0)                 // mov $0, %edx
	c = le.AppendUint32(append(c, 0xbe), 8)                 // mov $8, %esi
	c = append(c, calls[4].insn...)
	for _, r := range [...]struct {
		op    byte
		index int
	}{
		{0xb8, x86.RAX}, {0xb9, x86.RCX}, {0xba, x86.RDX}, {0xbb, x86.RBX}, {0xbe, x86.RSI}, {0xbf, x86.RDI}, {0xbd, x86.RBP},
	} {
		c = le.AppendUint32(append(c, r.op), uint32(home[r.index]))
	}
	next := at + uint32(len(c)) + 5
	c = le.AppendUint32(append(c, 0xe9), uint32(home[x86.RIP])-next)
	return withMask(c, mask)
}

func withMask(c []byte, mask uint64) []byte {
	c = append(c, make([]byte, maskOffset-len(c))...)
	return binary.LittleEndian.AppendUint64(c, mask)
}
