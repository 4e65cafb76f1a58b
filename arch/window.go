package arch

import "fmt"

// WindowArch is an Arch in which a probe can be a jump that replaces instructions, instead of a breakpoint that stops
// the thread. The jump leads to code of the tracer, which ends with a copy of the replaced instructions. Values are
// immutable and safe for concurrent use.
type WindowArch interface {
	Arch

	// JumpLen returns the length of a jump in bytes, which is the least length of a window.
	JumpLen() int

	// WindowAt returns the window of a jump at addr. code is the bytes from addr on that belong to the function, and
	// the padding behind it, but nothing of another function. The longest instruction behind the window should be
	// included, because FlagsDead depends on what follows. The error is a *WindowError that says why no jump fits
	// there.
	//
	// WindowAt examines the bytes alone. The caller has to know that addr is the start of an instruction, and that
	// nothing but the instructions of the window leads into its middle.
	WindowAt(code []byte, addr uint64) (Window, error)

	// WindowOver is WindowAt for a window that includes the instruction at last, which is behind addr.
	WindowOver(code []byte, addr, last uint64) (Window, error)

	// CopyWindow is Window.Copy. Without back, the copy ends with its last instruction.
	CopyWindow(w *Window, at uint64, back bool) (code []byte, offsets []int, err error)

	// Jump returns a jump of JumpLen bytes. It fails if to is out of reach.
	Jump(from, to uint64) ([]byte, error)
}

// BranchArch is a WindowArch whose windows may have several instructions, so that something may lead into the middle of
// one.
type BranchArch interface {
	WindowArch

	// Branches calls visit for every direct branch and call in code, whose address is start, for every indirect jump,
	// and for every instruction that loads an address relative to its own. It decodes from start to end and does not
	// allocate. At bytes that are not an instruction it continues with the next byte; skipped is how many of them there
	// were.
	Branches(code []byte, start uint64, visit func(Branch)) (skipped int)

	// Padding returns how many bytes at the start of code are instructions that compilers and linkers put between
	// functions: whole ones, which do nothing.
	Padding(code []byte) int

	// Stray calls visit for every address that a direct branch could lead to if an instruction started at any byte of
	// code. It is for code in which Branches skipped bytes, so that instructions may start anywhere.
	Stray(code []byte, start uint64, visit func(target uint64))

	// IndirectJumps calls visit for the address of each instruction of a function, and counts its indirect jumps that
	// may lead to another part of it, by the code in front of them: those through a jump table, and those of which it
	// is not known where they lead. The error says where the code cannot be decoded.
	IndirectJumps(code []byte, start uint64, visit func(addr uint64)) (tables, unclear int, err error)
}

// Branch is an instruction that Branches found.
type Branch struct {
	Addr   uint64
	Len    int
	Kind   BranchKind
	Target uint64 // of BranchIndirect the table of a jump through an absolute address with an index, or 0
}

// BranchKind classifies a Branch.
type BranchKind uint8

// The kinds of branches.
const (
	BranchDirect   BranchKind = iota // a jump, or a conditional one
	BranchCall                       // a direct call
	BranchIndirect                   // a jump through a register or memory, not a call
	BranchAddress                    // no branch: the instruction loads the address Target, relative to its own
)

// WindowCopySize is the maximum length in bytes of a copy of a window.
const WindowCopySize = 64

// Window is the whole instructions that a jump at their start overwrites. It is immutable and safe for concurrent use.
//
// The last instruction may be one that does not continue behind itself, such as a return. If it ends before the jump
// does, the window includes as many bytes of padding behind it as the jump takes.
type Window struct {
	Addr  uint64
	Len   int    // bytes that are replaced: JumpLen or more
	Insns []Insn // at least one, in order; the caller must not change them

	// Pushes is set if the last instruction is a call. The copy pushes the return address and jumps, so that the
	// function sees the address that it would see without the probe. A thread with a shadow stack must not run such a
	// copy, because the push does not write the shadow stack.
	Pushes bool

	// FlagsDead is set if the window, or the code directly behind it, writes all arithmetic flags before anything reads
	// them: code in front of the copy may change them. False means that this is not known.
	FlagsDead bool

	// LandingPad is set if the first instruction tells the processor that indirect branches may lead there. Where it
	// checks that, as in code that the kernel maps as guarded (PROT_BTI of 64-bit ARM), it refuses to land on a jump.
	LandingPad bool

	// Completes is set if the first instruction raises no exception for certain, unless the stack has no room, or the
	// data of its module are not as its code expects. False means that this is not known.
	Completes bool

	// Operand is the memory that the first instruction accesses, if it completes in the same sense once that can be
	// accessed. Nil if Completes is set, or if this is not known.
	Operand *MemOperand

	// LastCompletes says the same as Completes of the last instruction.
	LastCompletes bool

	// RedZoneFree is set if nothing below the stack pointer is in use at Addr. False means that this is not known: the
	// function may keep data in the 128 bytes below (System V ABI, AMD64 supplement, 3.2.2).
	RedZoneFree bool

	// Arch is the architecture that made the window.
	Arch WindowArch
}

// MemOperand is the memory that an instruction accesses: Size bytes, 1 to 8, at the sum of two registers and a number.
type MemOperand struct {
	Base, Index int    // in Regs; -1: none
	Scale       uint8  // how far Index is shifted to the left, 0 to 3
	Disp        uint64 // the number
	Size        int
	Writes      bool // else it only reads
}

// Address returns where the memory is, for the registers before the instruction.
func (o *MemOperand) Address(regs *Regs) uint64 {
	addr := o.Disp
	if o.Base >= 0 {
		addr += regs[o.Base]
	}
	if o.Index >= 0 {
		addr += regs[o.Index] << o.Scale
	}
	return addr
}

// End returns the address behind the window.
func (w *Window) End() uint64 { return w.Addr + uint64(w.Len) }

// Copy returns the window's instructions for another address, and a jump to the end of the window behind those that
// continue there. offsets has the offset in the copy of each instruction. The copy has at most WindowCopySize bytes and
// contains no address of its own that the program could see. It fails with a *WindowError if an operand or a target is
// out of reach from at.
//
// Each instruction takes effect in one instruction of the copy, and in between, the state of the thread is that between
// two instructions of the window. A call is an exception: see Pushes.
func (w *Window) Copy(at uint64) (code []byte, offsets []int, err error) {
	return w.Arch.CopyWindow(w, at, true)
}

// CopyFirst returns a copy of the first n instructions for another address, 0 < n ≤ len(w.Insns), without a jump behind
// them: the caller has to append code. It serves probes on an instruction in the middle of a window, which run between
// CopyFirst and the copy of Rest.
func (w *Window) CopyFirst(n int, at uint64) (code []byte, offsets []int, err error) {
	first := *w
	first.Insns = w.Insns[:n]
	return w.Arch.CopyWindow(&first, at, false)
}

// Rest returns the window without its first n instructions, 0 ≤ n < len(w.Insns). It is for Copy alone: it may be
// shorter than a jump.
func (w *Window) Rest(n int) Window {
	rest := *w
	rest.Insns = w.Insns[n:]
	rest.Addr = rest.Insns[0].Addr
	rest.Len = int(w.End() - rest.Addr)
	rest.FlagsDead, rest.RedZoneFree = false, false
	return rest
}

// WindowError reports a place where no jump fits. It matches ErrUnsupported.
type WindowError struct {
	Addr   uint64
	Reason string // "the second instruction is a call", "the function ends after 3 bytes", …
}

func (e *WindowError) Error() string {
	return fmt.Sprintf("cannot place a jump at %#x: %s", e.Addr, e.Reason)
}

// Is reports that the error matches ErrUnsupported.
func (e *WindowError) Is(target error) bool { return target == ErrUnsupported }
