package arch

import "errors"

// Regs is the register file of one thread, in the numbering of its architecture (for x86 the order of the
// kernel's struct user_regs_struct, so that a register read by ptrace lands here without a copy).
// 32-bit architectures keep their values zero-extended.
type Regs [40]uint64

// Vectors is the vector and floating-point register file of one thread, on ARM. A 64-bit processor's V0…V31 are whole elements, low
// half first. A 32-bit one's D0…D31 are the halves of the first sixteen: Dn is V[n/2][n%2].
type Vectors struct {
	V       [32][2]uint64
	Control uint64 // FPCR; on 32-bit ARM all of FPSCR
	Status  uint64 // FPSR; 0 on 32-bit ARM
}

// Memory is the memory of a target as an emulated instruction sees it. Both calls move all of p or nothing.
// An error that is a *FaultError says which access failed; the engine then lets the instruction fault natively.
type Memory interface {
	ReadMemory(addr uint64, p []byte) error
	WriteMemory(addr uint64, p []byte) error
}

// FaultError is an access of an emulated instruction that the target's memory refuses.
type FaultError struct {
	Addr  uint64
	Write bool
}

// ErrUnsupported is what every refusal of this package and of the engine matches with errors.Is.
var ErrUnsupported = errors.New("unsupported")

// RefusedError is a place that cannot be probed, or an instruction that cannot be run displaced.
// It matches ErrUnsupported.
type RefusedError struct {
	Addr   uint64
	Reason string // "privileged instruction", "not an instruction of 64-bit mode", …
}

// Strategy is how a displaced instruction is completed once its probes have run.
type Strategy uint8

// The strategies, in the order of preference.
const (
	Refused Strategy = iota
	Emulated
	OutOfLine
	InPlace
)

// Control is what an instruction does to the flow of control.
type Control uint8

// The kinds of control flow that the engine and the function scanner tell apart.
const (
	Plain     Control = iota // goes on with the next instruction
	Jump                     // direct, unconditional
	CondJump                 // direct, conditional (jcc, loop, jcxz, cbz …)
	IndirJump                // through a register or memory
	Call                     // direct call
	IndirCall                // through a register or memory
	Return
	Syscall // system call of any kind
	Trap    // int3, ud2, hlt …: does not go on by itself
)

// Insn is one decoded instruction, as much of it as placing a probe takes.
// It is a plain value; Op is private to the architecture that decoded it.
type Insn struct {
	Addr    uint64
	Len     int
	Bytes   [16]byte
	Control Control
	Target  uint64 // of Jump, CondJump and Call
	Op      any    // the architecture's own form, immutable
}

// Site is an instruction prepared for being displaced by a breakpoint: made once at registration, used at every hit.
// It is immutable and safe for concurrent use.
type Site interface {
	Insn() Insn

	// Strategy is the best way to run the instruction displaced; Refused never gets here.
	Strategy() Strategy

	// Allowed reports whether the instruction may be run by a strategy at all (for `--engine` and tests).
	Allowed(Strategy) bool

	// Emulate completes the instruction on regs (whose program counter is at the instruction) and mem, and leaves the
	// program counter where execution goes on. On error regs and memory are as before. It does not allocate
	// on success. A repeated string instruction is completed whole or left with a valid intermediate state.
	Emulate(regs *Regs, mem Memory) error

	// OutOfLine returns the bytes to place at slot (at most SlotSize) so that the instruction can be single-stepped
	// there, or an error when it cannot from that address (RIP-relative operand out of reach).
	OutOfLine(slot uint64) ([]byte, error)

	// BeforeStep prepares regs for a single step of the copy at slot: program counter, scratch registers.
	// It returns a value to hand to AfterStep.
	BeforeStep(regs *Regs, slot uint64) StepState

	// AfterStep puts right what the step at slot left in regs and memory: program counter, a pushed return address,
	// a pushed trap flag, a borrowed register. For InPlace steps slot is the address of the instruction itself.
	// done is false while the instruction has not finished (a repeated string instruction between two iterations,
	// or a fault that left the program counter in place).
	AfterStep(regs *Regs, mem Memory, slot uint64, st StepState) (done bool, err error)
}

// FloatSite is a Site whose instruction may leave its own address in the floating-point state of its thread, where the program can
// read it.
type FloatSite interface {
	Site
	// LeavesAddress reports whether the instruction does.
	LeavesAddress() bool
	// RepairAddress puts the address right after a step of the copy at slot. image is the state as an FXSAVE image; it has to be
	// written back if RepairAddress reports true.
	RepairAddress(image []byte, slot uint64) bool
}

// VectorSite is a Site that may need the vector registers.
type VectorSite interface {
	Site
	// Vectors reports whether the instruction reads or writes the vector registers; if it does, EmulateVectors completes it and Emulate
	// refuses to.
	Vectors() bool
	// EmulateVectors is Emulate for an instruction of the vector unit. On error regs, v and memory are as before.
	EmulateVectors(regs *Regs, v *Vectors, mem Memory) error
}

// ConditionalSite is a Site whose instruction may turn out to do nothing (ARM's conditions, Thumb's IT blocks). Handlers do not
// run for an instruction whose condition fails.
type ConditionalSite interface {
	Site
	Executes(regs *Regs) bool
}

// StepState is what BeforeStep remembers for AfterStep; plain words, no pointers.
type StepState struct {
	Saved [4]uint64
	Flags uint32
}

// Arch is one instruction set with its calling convention. Values are immutable and safe for concurrent use.
type Arch interface {
	Name() string  // "x86-64", "ia32", "arm64", "arm"
	WordSize() int // bytes: 4 or 8

	// Decode decodes the instruction at the start of code, which lies at addr. Errors match ErrUnsupported for
	// encodings that no processor of this kind runs, and are io.ErrUnexpectedEOF when code is too short.
	Decode(code []byte, addr uint64) (Insn, error)

	// Text is the disassembly of an instruction, for display only.
	Text(code []byte, addr uint64) string

	// Prepare makes a Site of an instruction, or refuses it with a *RefusedError.
	Prepare(in Insn) (Site, error)

	// Breakpoint is what is planted over an instruction; it is no longer than the instruction. It must not be changed.
	Breakpoint(in Insn) []byte
	// BreakpointPC is the address of a breakpoint that was hit, from the program counter the kernel reports.
	BreakpointPC(pc uint64) uint64
	SlotSize() int // bytes an out-of-line copy takes at most

	// RegIndex finds a register by its name ("rax", "eax", "sp", "pc"): index in Regs, and the width in bits to keep.
	// ok is false for a name this architecture does not have. Sub-registers (eax, ax, al on x86-64) are allowed.
	RegIndex(name string) (index, bits, shift int, ok bool)
	PC() int // index of the program counter
	SP() int // index of the stack pointer
	FP() int // index of the frame pointer

	// Arg is integer argument n of a function that was just entered, by the C calling convention.
	Arg(n int, regs *Regs, mem Memory) (uint64, error)
	Ret() int // index of the register of an integer result
	// ReturnAddress is where a function that was just entered will return to.
	ReturnAddress(regs *Regs, mem Memory) (uint64, error)
	// Syscall describes the system call about to be made, or just made, by regs.
	SyscallArg(n int, regs *Regs) uint64
	SyscallNumber(regs *Regs) uint64
	SyscallRet(regs *Regs) uint64
}

// Exit is a place where a function is left.
type Exit struct {
	Insn Insn
	Tail bool // a jump to another function, which returns in this one's stead
}
