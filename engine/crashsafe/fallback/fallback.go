package fallback

import (
	"bytes"
	_ "embed" // the handlers
	"encoding/binary"
	"slices"
)

//go:embed native/amd64.bin
var amd64 []byte

//go:embed native/ia32.bin
var ia32 []byte

//go:embed native/arm64.bin
var arm64 []byte

//go:embed native/arm.bin
var arm []byte

// Native is the handler for processes of one instruction set.
type Native struct {
	code  []byte
	word  int      // size in bytes
	trap  []byte   // a breakpoint, in the instruction set of the code for calls
	nop   []byte   // an instruction of the same length that does nothing
	calls []uint64 // open rt_sigaction rt_sigprocmask rt_sigreturn pread64 pwrite64 close getpid gettid tgkill rt_tgsigqueueinfo
}

// Calls returns the numbers of the system calls that the handler and Stub make, except those that are made only in
// a process without /proc, or for a SIGTRAP that was sent to the process. The caller must not change them.
func (n *Native) Calls() []uint64 { return n.calls }

// The handlers.
var (
	AMD64 = &Native{amd64, 8, []byte{int3}, []byte{0x90}, []uint64{2, 13, 14, 15, 17, 18, 3, 39, 186, 234, 297}}
	IA32  = &Native{ia32, 4, []byte{int3}, []byte{0x90}, []uint64{5, 174, 175, 173, 180, 181, 6, 20, 224, 270, 335}}
	ARM64 = &Native{arm64, 8, []byte{0x00, 0x00, 0x20, 0xd4}, []byte{0x1f, 0x20, 0x03, 0xd5}, []uint64{56, 134, 135, 139, 67, 68, 57, 172, 178, 131, 240}}
	ARM   = &Native{arm, 4, []byte{0xf0, 0x01, 0xf0, 0xe7}, []byte{0x00, 0x00, 0xa0, 0xe1}, []uint64{5, 174, 175, 173, 181, 6, 20, 224, 268, 363, 0xf0002}} // cacheflush for pread64
)

// The layout of a region, in bytes from its start.
const (
	chainAt    = 0x10
	countAt    = 0x18
	watchingAt = 0x1c
	ActionAt   = 0x40 // the action that installs the handler, as rt_sigaction takes it
	OwnAt      = 0x60 // the program's own action, as rt_sigaction returned it
	MaskAt     = 0x80 // a signal mask for Stub
	handlerAt  = 0x100
	restorerAt = 0x7f0
	StubAt     = 0x800
	masksAt    = 0x20
	stubAt     = 0x24 // the number of the stub that the latest session uses
	listAt     = 0x1000
	TableAt    = 0x5000

	EntrySize  = 16
	Size       = 1 << 20 // of the whole region; pages that are not written take no memory
	Entries    = (Size - TableAt) / EntrySize
	Threads    = (TableAt - listAt) / ThreadSize // room in the list of threads
	ThreadSize = 32
)

// CodePassed is the si_code with which a tracer makes the handler pass on the end of a step that the program made
// itself (TRAP_TRACE), where the flags do not distinguish it from a tracer's step: after the instruction that
// cleared the trap flag. The program's handler sees TRAP_TRACE.
const CodePassed = -72

// CodeNote is the si_code of the SIGTRAP with which the handler in one thread tells another to settle: see doc.go.
const CodeNote = -71

// IsOwnCode reports whether a SIGTRAP with this si_code is meant for the handler, and none of the program's.
func IsOwnCode(code int) bool { return code == CodeNote || code == CodePassed }

// SentCode returns the marked si_code for a SIGTRAP that a program sent with the given one. A tracer marks each such
// signal before it delivers the signal, and the handler removes the mark. A signal without the mark was delivered
// without a tracer: see doc.go. ok is false for signals that an instruction raised or gotap sent, and for codes that
// neither the kernel nor a C library uses.
func SentCode(code int) (marked int32, ok bool) {
	return int32(code) - sentOffset, code <= 0 && code > lowestSent && !IsOwnCode(code)
}

// The si_code of a SIGTRAP that was sent. It keeps to 16 bits, as QEMU's user mode does.
const (
	sentOffset = 0x4000
	lowestSent = -0x100
)

// Magic is the text at the start of a region.
const Magic = "gotap fallback 1"

// ActionSize is the size of an action, in the kernel's layout, for both word sizes.
const ActionSize = 32

// FlagRestorer is the flag of an action that specifies how its handler returns.
const FlagRestorer = 0x04000000

// Other flags of an action.
const (
	flagSigInfo   = 4
	flagOnStack   = 0x08000000
	flagRestart   = 0x10000000
	flagNoDefer   = 0x40000000
	flagResetHand = 0x80000000
)

// Action is a signal action in the kernel's layout, for processes of a given word size. It is a plain value.
type Action struct {
	Handler, Flags, Restorer uint64
	Mask                     [8]byte
}

// The handlers that are not functions.
const (
	Default = 0
	Ignore  = 1
)

// Caught reports whether the action is a function.
func (a Action) Caught() bool { return a.Handler > Ignore }

// Once reports whether the action is a function that the kernel calls only once.
func (a Action) Once() bool { return a.Caught() && a.Flags&flagResetHand != 0 }

// ParseAction parses an action as rt_sigaction returns it.
func ParseAction(p []byte, word int) Action {
	var a Action
	if word == 4 {
		a.Handler, a.Flags, a.Restorer = u32(p), u32(p[4:]), u32(p[8:])
		copy(a.Mask[:], p[12:])
		return a
	}
	a.Handler, a.Flags, a.Restorer = binary.LittleEndian.Uint64(p), binary.LittleEndian.Uint64(p[8:]), binary.LittleEndian.Uint64(p[16:])
	copy(a.Mask[:], p[24:])
	return a
}

func u32(p []byte) uint64 { return uint64(binary.LittleEndian.Uint32(p)) }

// Bytes returns the action as rt_sigaction takes it.
func (a Action) Bytes(word int) []byte {
	p := make([]byte, 0, ActionSize)
	for _, v := range []uint64{a.Handler, a.Flags, a.Restorer} {
		if word == 4 {
			p = binary.LittleEndian.AppendUint32(p, uint32(v))
		} else {
			p = binary.LittleEndian.AppendUint64(p, v)
		}
	}
	return append(p, a.Mask[:]...)
}

// Over returns the action that is installed instead of the program's own, in a region at base. Our handler calls
// the program's handler; so what the kernel does before it calls a handler stays as the program asked for. Where
// the program has no handler, all signals are blocked while ours runs. Otherwise another thread's note that arrived
// during the handler would remove the thread from the list and restore its mask only inside the handler, which
// would then return to the tracer's mask; and a handler of another signal could hit a breakpoint.
//
// A program that reads this action after a tracer has died, and sets it again, does so through the C library, which
// chooses how the handler returns. That of IA32 ignores the address here, but not the flag; so there the handler
// returns through the kernel's code.
func (n *Native) Over(a Action, base uint64) Action {
	over := Action{Handler: Handler(base), Restorer: base + restorerAt,
		Flags: flagSigInfo | FlagRestorer | flagOnStack | flagRestart, Mask: [8]byte{255, 255, 255, 255, 255, 255, 255, 255}}
	if a.Caught() {
		over.Mask = a.Mask
		over.Flags = a.Flags&^flagResetHand&0xffffffff | flagSigInfo | FlagRestorer
	}
	if n == IA32 {
		over.Flags, over.Restorer = over.Flags&^FlagRestorer, 0
	}
	return over
}

// Taken reports whether an action, as the kernel returns it, is the one that was installed over own in a region
// at base, with the default in place of the handler. The kernel leaves the action like that when it forces a signal
// on a thread that blocks it; a program that sets the default also sets all other fields.
func (n *Native) Taken(a, own Action, base uint64) bool {
	over := n.Over(own, base)
	over.Handler = Default
	for _, sig := range []int{sigKill, sigStop} { // the kernel does not keep them in a mask
		a.Mask[(sig-1)/8] &^= 1 << ((sig - 1) % 8)
		over.Mask[(sig-1)/8] &^= 1 << ((sig - 1) % 8)
	}
	return a == over
}

// Signals that no mask blocks.
const (
	sigKill = 9
	sigStop = 19
)

// Handler returns the address of the handler in a region at base.
func Handler(base uint64) uint64 { return base + handlerAt }

// Page returns the first part of a region at base, for a program with the given action of its own.
func (n *Native) Page(base uint64, own Action) []byte {
	page := slices.Clone(n.code)
	n.SetOwn(page, base, own)
	return page
}

// SetOwn writes the program's own action into the head of a page.
func (n *Native) SetOwn(page []byte, base uint64, own Action) {
	binary.LittleEndian.PutUint64(page[chainAt:], own.Handler)
	copy(page[ActionAt:OwnAt], n.Over(own, base).Bytes(n.word))
	copy(page[OwnAt:MaskAt], own.Bytes(n.word))
}

// HeadSize is the size of the part of a page that is data.
const HeadSize = 0xc0

// Head is the data at the start of a region.
type Head struct {
	Own      Action
	Count    int  // entries of the table in use
	Threads  int  // entries of the list of threads in use
	Stub     int  // the stub that the latest session used, 0 to Stubs-1
	Watching bool // debug registers were armed
}

// ParseHead parses the head of a region; ok is false if the bytes are not a head.
func ParseHead(p []byte, word int) (h Head, ok bool) {
	if len(p) < HeadSize || !bytes.HasPrefix(p, []byte(Magic)) {
		return h, false
	}
	h.Own = ParseAction(p[OwnAt:], word)
	h.Count = int(u32(p[countAt:]))
	h.Threads = int(u32(p[masksAt:]))
	h.Stub = int(u32(p[stubAt:]))
	h.Watching = u32(p[watchingAt:]) != 0
	return h, h.Count <= Entries && h.Threads <= Threads && h.Stub < Stubs
}

// Count returns the address and the bytes to write to make the handler use n entries of the table.
func Count(base uint64, n int) (addr uint64, p []byte) {
	return base + countAt, binary.LittleEndian.AppendUint32(nil, uint32(n))
}

// Watching returns the address and the bytes to write to set whether the handler treats accesses to watched data as
// ours.
func Watching(base uint64, on bool) (addr uint64, p []byte) {
	p = make([]byte, 4)
	if on {
		p[0] = 1
	}
	return base + watchingAt, p
}

// The numbers of bytes that are restored at a place where a jump of x86-64 may be written: see Entry.
const (
	LongOrig  = 5
	ShortOrig = 2
)

// Entry returns the address and the bytes to write for a breakpoint, trap, in entry i; orig is what it displaces, of
// the same length, or LongOrig or ShortOrig bytes of which those behind the breakpoint may change as well, on x86-64.
// An entry never crosses a page, so the kernel writes it whole or not at all. Without a trap the entry is not in use.
func Entry(base uint64, i int, addr uint64, orig, trap []byte) (at uint64, p [EntrySize]byte) {
	binary.LittleEndian.PutUint64(p[:], addr)
	copy(p[origAt:trapAt], orig)
	copy(p[trapAt:], trap)
	switch {
	case len(orig) == LongOrig:
		p[lastAt], p[jumpAt] = orig[LongOrig-1], longJump
	case len(orig) == ShortOrig && len(trap) == 1:
		p[jumpAt] = shortJump
	}
	return base + TableAt + uint64(i)*EntrySize, p
}

// Offsets in an entry of the displaced bytes and of the breakpoint.
const (
	origAt = 8
	trapAt = 12
	lastAt = 13 // on x86-64: the last of LongOrig bytes
	jumpAt = 14 // on x86-64: which jump may be there
)

// Jumps that may be at a place of x86-64; 0: none.
const (
	longJump  = 1 // LongOrig bytes are restored
	shortJump = 2 // ShortOrig bytes are
)

// int3 is the breakpoint of x86; no other breakpoint begins with this byte.
const int3 = 0xcc

// ParseEntry parses an entry; addr is 0 if the entry is not in use.
func ParseEntry(p []byte) (addr uint64, orig, trap []byte) {
	n := trapLen(u32(p[trapAt:]))
	addr, orig, trap = binary.LittleEndian.Uint64(p), p[origAt:origAt+n], p[trapAt:trapAt+n]
	if p[trapAt] != int3 {
		return addr, orig, trap
	}
	switch p[jumpAt] {
	case longJump:
		orig = append(slices.Clone(p[origAt:trapAt]), p[lastAt])
	case shortJump:
		orig = p[origAt : origAt+ShortOrig]
	}
	return addr, orig, trap
}

// trapLen returns the length of a breakpoint. No instruction set has a breakpoint that ends in zeros: they have one
// byte on x86, two or four on ARM.
func trapLen(trap uint64) int {
	switch {
	case trap>>8 == 0, trap&0xff == int3:
		return 1
	case trap>>16 == 0:
		return 2
	}
	return 4
}

// Masks returns the address and the bytes to write to make the handler use n entries of the list of threads.
func Masks(base uint64, n int) (addr uint64, p []byte) {
	return base + masksAt, binary.LittleEndian.AppendUint32(nil, uint32(n))
}

// Thread is an entry of the list of threads: the signals that a tracer keeps from a thread.
type Thread struct {
	Tid    int    // 0: the entry is not in use
	Masked bool   // the thread blocks all signals, and Mask is its own mask
	Mask   uint64 // bit n-1 is signal n
	Kept   uint64 // signals that are still to be delivered; likewise
}

// Entry returns the address and the bytes to write for entry i of the list. It never crosses a page.
func (t Thread) Entry(base uint64, i int) (addr uint64, p [ThreadSize]byte) {
	le := binary.LittleEndian
	le.PutUint32(p[:], uint32(t.Tid))
	if t.Masked {
		p[4] = 1
	}
	le.PutUint64(p[8:], t.Mask)
	le.PutUint64(p[16:], t.Kept)
	return base + listAt + uint64(i)*ThreadSize, p
}

// ParseThread parses an entry of the list of threads.
func ParseThread(p []byte) Thread {
	le := binary.LittleEndian
	return Thread{Tid: int(le.Uint32(p)), Masked: p[4] != 0, Mask: le.Uint64(p[8:]), Kept: le.Uint64(p[16:])}
}

// ReadThread reads entry i of the list of threads of the region at base.
func ReadThread(mem Memory, base uint64, i int) (t Thread, ok bool) {
	p := make([]byte, ThreadSize)
	if mem.Peek(base+listAt+uint64(i)*ThreadSize, p) != nil {
		return t, false
	}
	return ParseThread(p), true
}

// Simple returns the action for a handler as signal() sets it. If the handler is a function of x86-64, it returns
// through the region at base; elsewhere through code of the kernel, which knows the frame of a handler without
// SA_SIGINFO as well.
func (n *Native) Simple(handler, base uint64) Action {
	if n != AMD64 {
		return Action{Handler: handler, Flags: flagRestart}
	}
	return Action{Handler: handler, Flags: flagRestart | FlagRestorer, Restorer: base + restorerAt}
}
