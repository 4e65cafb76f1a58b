package arch

import "errors"

// Regs holds the general registers of one thread, in the numbering of its architecture. For x86 that is the order
// of the kernel's struct user_regs_struct, so registers read by ptrace need no conversion. 32-bit architectures
// zero-extend their values.
type Regs [40]uint64

// Vectors holds the vector and floating-point registers of one thread on ARM. On 64-bit ARM, V0…V31 are the
// elements, low half first. On 32-bit ARM, D0…D31 are the halves of the first sixteen: Dn is V[n/2][n%2].
type Vectors struct {
	V       [32][2]uint64
	Control uint64 // FPCR; on 32-bit ARM all of FPSCR
	Status  uint64 // FPSR; 0 on 32-bit ARM
}

// Memory is the memory of a target, as an emulated instruction accesses it. Both methods transfer all of p or
// nothing. A *FaultError names the access that failed; the engine then lets the processor execute the instruction
// and raise the fault.
type Memory interface {
	ReadMemory(addr uint64, p []byte) error
	WriteMemory(addr uint64, p []byte) error
}

// FaultError reports an access of an emulated instruction that the target's memory does not allow.
type FaultError struct {
	Addr  uint64
	Write bool
}

// ErrUnsupported matches, with errors.Is, every refusal of this package and of the engine.
var ErrUnsupported = errors.New("unsupported")

// RefusedError reports a place that cannot be probed, or an instruction that cannot run displaced. It matches
// ErrUnsupported.
type RefusedError struct {
	Addr   uint64
	Reason string // "privileged instruction", "not an instruction of 64-bit mode", …
}

// Strategy says how a displaced instruction is completed after its probes have run.
type Strategy uint8

// The strategies, in order of preference.
const (
	Refused Strategy = iota
	Emulated
	OutOfLine
	InPlace
)

// Control classifies the effect of an instruction on the flow of control.
type Control uint8

// The kinds of control flow.
const (
	Plain     Control = iota // continues with the next instruction
	Jump                     // direct, unconditional
	CondJump                 // direct, conditional (jcc, loop, jcxz, cbz …)
	IndirJump                // through a register or memory
	Call                     // direct call
	IndirCall                // through a register or memory
	Return
	Syscall // system call of any kind
	Trap    // int3, ud2, hlt …: does not continue by itself
)

// Insn is one decoded instruction, with what is needed to place a probe. It is a plain value. Only the architecture
// that decoded it uses Op.
type Insn struct {
	Addr    uint64
	Len     int
	Bytes   [16]byte
	Control Control
	Target  uint64 // of Jump, CondJump and Call
	Op      any    // the architecture's own form, immutable
}

// Site is an instruction prepared to be displaced by a breakpoint. It is made once, when a probe is placed, and
// used at every hit. It is immutable and safe for concurrent use.
type Site interface {
	Insn() Insn

	// Strategy returns the best way to run the instruction displaced. It never returns Refused.
	Strategy() Strategy

	// Allowed reports whether a strategy can run the instruction at all (for `--engine` and tests).
	Allowed(Strategy) bool

	// Emulate completes the instruction on regs, whose program counter is at the instruction, and on mem. It sets
	// the program counter to where execution continues. If it fails, regs and memory are unchanged. It does not
	// allocate on success. A repeated string instruction is completed, or left in a valid intermediate state.
	Emulate(regs *Regs, mem Memory) error

	// OutOfLine returns the bytes to place at slot, at most SlotSize, so that the instruction can be single-stepped
	// there, or on ARM so that a system call can be made there. A jump back follows the instruction. It fails if the
	// instruction cannot run at that address, for example because a RIP-relative operand is out of reach.
	OutOfLine(slot uint64) ([]byte, error)

	// BeforeStep prepares regs for a single step of the copy at slot: program counter and scratch registers. Its
	// result is for AfterStep.
	BeforeStep(regs *Regs, slot uint64) StepState

	// AfterStep corrects what the step at slot left in regs and memory: the program counter, a pushed return
	// address, a pushed trap flag, a borrowed register. For an InPlace step, slot is the address of the instruction
	// itself. done is false if the instruction has not finished: a repeated string instruction between two
	// iterations, or a fault that left the program counter in place.
	AfterStep(regs *Regs, mem Memory, slot uint64, st StepState) (done bool, err error)
}

// FloatSite is a Site whose instruction may store its own address in the floating-point state of the thread, where
// the program can read it.
type FloatSite interface {
	Site
	// LeavesAddress reports whether the instruction stores its address there.
	LeavesAddress() bool
	// RepairAddress corrects the address after a step of the copy at slot. image is the state as an FXSAVE image;
	// the caller has to write it back if RepairAddress returns true.
	RepairAddress(image []byte, slot uint64) bool
}

// VectorSite is a Site that may need the vector registers.
type VectorSite interface {
	Site
	// Vectors reports whether the instruction reads or writes vector registers. If it does, EmulateVectors
	// completes it and Emulate fails.
	Vectors() bool
	// EmulateVectors is Emulate for an instruction of the vector unit. If it fails, regs, v and memory are
	// unchanged.
	EmulateVectors(regs *Regs, v *Vectors, mem Memory) error
}

// ConditionalSite is a Site whose instruction may have no effect because its condition fails (ARM's conditions,
// Thumb's IT blocks). Probes do not run for such an instruction.
type ConditionalSite interface {
	Site
	Executes(regs *Regs) bool
}

// StepState carries values from BeforeStep to AfterStep.
type StepState struct {
	Saved [4]uint64
	Flags uint32
}

// Arch is one instruction set with its calling convention. Values are immutable and safe for concurrent use.
type Arch interface {
	Name() string  // "x86-64", "ia32", "arm64", "arm"
	WordSize() int // bytes: 4 or 8

	// Decode decodes the instruction at the start of code, whose address is addr. The error matches ErrUnsupported
	// for encodings that no such processor executes, and is io.ErrUnexpectedEOF if code is too short.
	Decode(code []byte, addr uint64) (Insn, error)

	// Text returns the disassembly of an instruction, for display only.
	Text(code []byte, addr uint64) string

	// Prepare makes the Site of an instruction. It refuses an instruction with a *RefusedError.
	Prepare(in Insn) (Site, error)

	// Breakpoint returns the bytes that replace the start of an instruction. They are not longer than the
	// instruction. The caller must not change them.
	Breakpoint(in Insn) []byte
	// BreakpointPC returns the address of a breakpoint that was hit, given the program counter that the kernel
	// reports.
	BreakpointPC(pc uint64) uint64
	SlotSize() int // maximum length of an out-of-line copy in bytes; a multiple of the alignment of instructions

	// RegIndex finds a register by name ("rax", "eax", "sp", "pc"). It returns the index in Regs, and the width and
	// position of its bits. ok is false if the architecture has no register of that name. Names of sub-registers
	// (eax, ax, al on x86-64) are valid.
	RegIndex(name string) (index, bits, shift int, ok bool)
	PC() int // index of the program counter
	SP() int // index of the stack pointer
	FP() int // index of the frame pointer

	// Arg returns integer argument n at the entry of a function, by the C calling convention.
	Arg(n int, regs *Regs, mem Memory) (uint64, error)
	Ret() int // index of the register of an integer result
	// ReturnAddress returns the return address at the entry of a function.
	ReturnAddress(regs *Regs, mem Memory) (uint64, error)
	// SyscallArg, SyscallNumber and SyscallRet describe the system call that the thread is about to make or has
	// just made.
	SyscallArg(n int, regs *Regs) uint64
	SyscallNumber(regs *Regs) uint64
	SyscallRet(regs *Regs) uint64
}

// Exit is an instruction that leaves a function.
type Exit struct {
	Insn Insn
	Tail bool // a jump to another function, which returns to this one's caller
}
