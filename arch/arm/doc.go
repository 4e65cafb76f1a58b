// Package arm implements A32 and Thumb, the two instruction sets of 32-bit ARM: decoders, and emulation of
// everything that a user process may execute.
//
// # How it works
//
// Decode finds the row of the tables whose mask and value match the instruction. tables_a32.go, tables_t16.go and
// tables_t32.go show the rows as pictures, like the architecture manual (Arm ARM DDI 0487, part F); table.go parses
// them. A row has the name of the instruction, its class, its effect on the flow of control, the function that
// executes it, and the encodings of it that are unpredictable. Both instruction sets share the operations on
// registers (alu.go, multiply.go, media.go, memory.go, branch.go); a32.go, thumb16.go and thumb32.go extract the
// operands. decodeVector and its tables handle the vector unit.
//
// Prepare runs once for each probe point and refuses instructions that cannot be displaced. All others are emulated
// at the stop for the breakpoint: nothing is stepped, and no copies are made but of system calls.
//
// At a hit (cpu.go), the registers are copied into a cpu. If the condition holds, the row's function works on the
// copy, and on success the copy becomes the registers. Memory is written last, with one call for adjacent bytes, so
// an instruction that fails has changed nothing. Machines come from a pool: a cpu is passed to a function value and
// would otherwise be allocated at every hit.
//
// The package starts no threads and has one lock, that of the disassembler, which only Text uses.
//
// # How each class of instruction is handled
//
//	class                                handling
//	data processing, multiplications,    emulated
//	  media, DSP, CRC32, divisions
//	loads, stores, LDM, STM, PUSH, POP,  emulated; words and halves need not be aligned, but those of LDM, STM, LDRD, STRD must
//	  LDRD, STRD, LDRT … STRHT
//	LDA, STL …                           emulated; an address that is not aligned faults
//	SWP, SWPB                            emulated by a read and a write, class Swap
//	branches, BX, BLX, CBZ, TBB, TBH     emulated, with the change of the instruction set
//	IT                                   emulated; every instruction of the block advances ITSTATE, even if its condition fails
//	MRS, MSR of CPSR                     emulated as in user mode
//	floating point and SIMD              emulated, with the vector registers: Vectors reports them
//	NOP, WFE, SEV …, PLD, PLI            no effect
//	DMB, DSB, ISB, CLREX, their old      no effect: the exception is a barrier of every kind, and clears the monitor
//	  forms in coprocessor 15
//	MRC of the thread pointer            read from the memory (ThreadPointer), class SystemRegister
//	SVC                                  Control is arch.Syscall: Emulate changes nothing, the kernel executes the original
//	LDREX … STREX, LDAEX … STLEX         refused, class Exclusive
//	BKPT, HLT, UDF                       refused, class Trap
//	SETEND                               refused, class Endian; so are, at a hit, accesses while CPSR.E is set
//	CPS, SRS, RFE, HVC, SMC, ERET, MRS   refused, class Privileged
//	  and MSR of SPSR, LDM and STM of
//	  user registers, SETPAN, DCPS
//	other coprocessors, other registers  refused, class Coprocessor
//	  of coprocessor 15
//	unpredictable encodings              refused with the reason
//
// Of 136,595 instructions of a program with most of Debian's C library, 786 are refused: 726 exclusives, 52 of the
// coprocessor whose registers setjmp saves, 8 traps (counted by TestLibraries).
//
// Unpredictable has the manual's meaning: r15 where it is not allowed, a write-back to the transferred register,
// two results in one register, bits that should be 0 or 1 and are not, lists without registers, exception returns.
// Armv8 defined some encodings that Armv7 left open, with r13 as an operand of 32-bit Thumb instructions. Armv7's
// rules apply: compilers do not generate such instructions, and the kernel's tests refuse them. Legal are sums and
// differences of r13, into any register, shifted left by up to 3 if into r13; moves to or from r13 without a shift
// and without flags; comparisons of it; loads and stores of words; and r13 as a base. Instructions that came with
// Armv8 may name it.
//
// Some cases are known only at a hit: a branch inside an IT block before its end, an instruction that must not be
// in a block, a branch to an address that is 2 modulo 4 in A32, r15 loaded from an unaligned address. Emulate then
// fails with the reason and changes nothing.
//
// # What an engine has to consider
//
// Conditions. Executes reports whether the instruction will have an effect; if not, probes must not run. The
// breakpoint of A32 has the condition of the instruction that it displaces, so mostly it is not hit in that case.
// Those of Thumb are: an undefined instruction inside an IT block may or may not trap.
//
// Exclusives. The instructions between a load-exclusive and its store-exclusive cannot be probed either: the
// exception clears the monitor, and the program would retry forever. ExclusiveRuns finds these places.
//
// System calls. A site with Control arch.Syscall stays at its instruction; the engine has to execute it.
//
// Faults. After a *arch.FaultError, which includes *AlignmentError, the instruction has to fault natively.
//
// # Decisions
//
// Why a decoder of our own? That of x/arch knows neither Thumb nor NEON, and keeps state in a package variable.
// Only Text uses it, behind a lock.
//
// Why do Exits and Boundaries follow the flow instead of sweeping? Literals and tables lie between instructions. A
// sweep takes them for code, and a breakpoint in a literal changes what the program computes. Code that only
// exceptions reach is not found; mapping symbols ($a, $t, $d) would reveal it, if the program still has them.
//
// Why does a lone store-exclusive not fault at a bad address? The architecture does not say whether the monitor or
// the address is checked first. Exec imitates processors that check the monitor first.
package arm
