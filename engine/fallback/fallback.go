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
	calls []uint64 // open rt_sigaction rt_sigprocmask rt_sigreturn pread64 pwrite64 close getpid gettid tgkill rt_tgsigqueueinfo
}

// Calls are the numbers of the system calls that the handler and Stub make, but for those of a process without /proc. The caller
// must not change them.
func (n *Native) Calls() []uint64 { return n.calls }

// The handlers there are.
var (
	AMD64 = &Native{amd64, 8, []uint64{2, 13, 14, 15, 17, 18, 3, 39, 186, 234, 297}}
	IA32  = &Native{ia32, 4, []uint64{5, 174, 175, 173, 180, 181, 6, 20, 224, 270, 335}}
	ARM64 = &Native{arm64, 8, []uint64{56, 134, 135, 139, 67, 68, 57, 172, 178, 131, 240}}
	ARM   = &Native{arm, 4, []uint64{5, 174, 175, 173, 181, 6, 20, 224, 268, 363, 0xf0002}} // cacheflush for pread64
)

// The layout of a region, in bytes from its start.
const (
	chainAt    = 0x10
	countAt    = 0x18
	watchingAt = 0x1c
	ActionAt   = 0x40 // the action that makes the handler work, as rt_sigaction takes it
	OwnAt      = 0x60 // the program's own action, as rt_sigaction gave it
	MaskAt     = 0x80 // a signal mask for Stub
	handlerAt  = 0x100
	restorerAt = 0x7f0
	StubAt     = 0x800
	masksAt    = 0x20
	stubAt     = 0x24 // the number of the stub that the latest session uses
	listAt     = 0x1000
	TableAt    = 0x5000

	EntrySize  = 16
	Size       = 1 << 20 // of all of it; pages that are not written take no memory
	Entries    = (Size - TableAt) / EntrySize
	Threads    = (TableAt - listAt) / ThreadSize // room in the list of threads
	ThreadSize = 32
)

// CodePassed is the si_code by which a tracer has the handler pass on the end of a step that the program made itself (TRAP_TRACE),
// where the flags do not tell it from one of a tracer's: behind the instruction that cleared the trap flag. The program's handler
// gets to see TRAP_TRACE.
const CodePassed = -72

// Magic is what a region begins with.
const Magic = "gotap fallback 1"

// ActionSize is the size of an action, in the kernel's layout, for both word sizes.
const ActionSize = 32

// Flags of an action.
const (
	flagSigInfo   = 4
	flagRestorer  = 0x04000000
	flagOnStack   = 0x08000000
	flagRestart   = 0x10000000
	flagNoDefer   = 0x40000000
	flagResetHand = 0x80000000
)

// Action is an action for a signal in the kernel's layout, for processes of a word size. It is a plain value.
type Action struct {
	Handler, Flags, Restorer uint64
	Mask                     [8]byte
}

// The handlers that are no functions.
const (
	Default = 0
	Ignore  = 1
)

// Caught reports whether the action is a function.
func (a Action) Caught() bool { return a.Handler > Ignore }

// Once reports whether the action is a function that is to be called once.
func (a Action) Once() bool { return a.Caught() && a.Flags&flagResetHand != 0 }

// ParseAction reads an action as rt_sigaction gives it.
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

// Bytes is the action as rt_sigaction takes it.
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

// Over is the action that is installed in the place of the program's own, in a region at base. A handler of the program is called
// by ours; so what the kernel does before a handler is called stays as the program asked for. Where it has none, all signals are
// blocked while ours runs: another thread's note that came in the middle of it would take the thread out of the list and give it
// back its mask inside of the handler alone, which then returned to the mask of the tracer; and a handler of another signal could
// meet a breakpoint.
func (a Action) Over(base uint64) Action {
	over := Action{Handler: Handler(base), Restorer: base + restorerAt,
		Flags: flagSigInfo | flagRestorer | flagOnStack | flagRestart, Mask: [8]byte{255, 255, 255, 255, 255, 255, 255, 255}}
	if a.Caught() {
		over.Mask = a.Mask
		over.Flags = a.Flags&^flagResetHand&0xffffffff | flagSigInfo | flagRestorer
	}
	return over
}

// TakenFrom reports whether an action, as the kernel tells it, is what was installed over own in a region at base, with the default
// in the place of the handler. That is how the kernel leaves it when it forces a signal on a thread that blocks it; who sets the
// default says all else anew as well.
func (a Action) TakenFrom(own Action, base uint64) bool {
	over := own.Over(base)
	over.Handler = Default
	for _, n := range []int{sigKill, sigStop} { // the kernel does not keep them in a mask
		a.Mask[(n-1)/8] &^= 1 << ((n - 1) % 8)
		over.Mask[(n-1)/8] &^= 1 << ((n - 1) % 8)
	}
	return a == over
}

// Signals that no mask blocks.
const (
	sigKill = 9
	sigStop = 19
)

// Handler is the address of the handler in a region at base.
func Handler(base uint64) uint64 { return base + handlerAt }

// Page is the first part of a region at base, for a program with an action of its own.
func (n *Native) Page(base uint64, own Action) []byte {
	page := slices.Clone(n.code)
	SetOwn(page, base, own, n.word)
	return page
}

// SetOwn writes the program's own action into the head of a page.
func SetOwn(page []byte, base uint64, own Action, word int) {
	binary.LittleEndian.PutUint64(page[chainAt:], own.Handler)
	copy(page[ActionAt:OwnAt], own.Over(base).Bytes(word))
	copy(page[OwnAt:MaskAt], own.Bytes(word))
}

// HeadSize is the size of the part of a page that is data.
const HeadSize = 0xc0

// Head is what the start of a region tells.
type Head struct {
	Own      Action
	Count    int  // entries of the table in use
	Threads  int  // entries of the list of threads in use
	Stub     int  // the stub that the latest session used, 0 to Stubs-1
	Watching bool // debug registers were armed
}

// ParseHead reads the head of a region; ok is false when it is none.
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

// Count is what to write where, so that the handler looks at n entries.
func Count(base uint64, n int) (addr uint64, p []byte) {
	return base + countAt, binary.LittleEndian.AppendUint32(nil, uint32(n))
}

// Watching is what to write where, so that the handler takes accesses to watched data for ours.
func Watching(base uint64, on bool) (addr uint64, p []byte) {
	p = make([]byte, 4)
	if on {
		p[0] = 1
	}
	return base + watchingAt, p
}

// Entry is what to write where for a breakpoint, trap, in entry i; orig is what it displaces, as long. An entry never crosses a
// page, so that the kernel writes it whole or not at all. With no trap the entry is not in use.
func Entry(base uint64, i int, addr uint64, orig, trap []byte) (at uint64, p [EntrySize]byte) {
	binary.LittleEndian.PutUint64(p[:], addr)
	copy(p[origAt:trapAt], orig)
	copy(p[trapAt:], trap)
	return base + TableAt + uint64(i)*EntrySize, p
}

// Where an entry has the displaced bytes and the breakpoint.
const (
	origAt = 8
	trapAt = 12
)

// ParseEntry reads an entry; the address is 0 in one that is not in use.
func ParseEntry(p []byte) (addr uint64, orig, trap []byte) {
	n := trapLen(u32(p[trapAt:]))
	return binary.LittleEndian.Uint64(p), p[origAt : origAt+n], p[trapAt : trapAt+n]
}

// trapLen is the length of a breakpoint, which no instruction set has any of that ends in zeros: one byte on x86, two or four on ARM.
func trapLen(trap uint64) int {
	switch {
	case trap>>8 == 0:
		return 1
	case trap>>16 == 0:
		return 2
	}
	return 4
}

// Masks is what to write where, so that the handler looks at n entries of the list of threads.
func Masks(base uint64, n int) (addr uint64, p []byte) {
	return base + masksAt, binary.LittleEndian.AppendUint32(nil, uint32(n))
}

// Thread is an entry of the list of threads: what a tracer keeps from one.
type Thread struct {
	Tid    int    // 0: the entry is not in use
	Masked bool   // the thread blocks all signals, and Mask is what it blocks itself
	Mask   uint64 // bit n-1 is signal n
	Kept   uint64 // signals that are to be delivered yet; likewise
}

// Entry is what to write where for entry i of the list. It never crosses a page.
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

// ParseThread reads an entry of the list of threads.
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

// Simple is the action for a handler as signal() sets it. A function returns by way of the region at base.
func Simple(handler, base uint64) Action {
	return Action{Handler: handler, Flags: WithRestorer(flagRestart), Restorer: base + restorerAt}
}

// WithRestorer adds to flags that the action says how its handler returns.
func WithRestorer(flags uint64) uint64 { return flags&0xffffffff | flagRestorer }
