// Package arm is A32 and Thumb, the two instruction sets of 32-bit ARM: their decoders, and the emulation of what a user process
// may execute.
//
// # How it works
//
// Decode finds the one row of the tables whose mask and value fit the instruction: tables_a32.go, tables_t16.go and tables_t32.go
// show them as pictures, in the way of the architecture manual (Arm ARM DDI 0487, part F), and table.go reads those. A row names
// the instruction, its class, what it does to the flow of control, the function that carries it out, and what makes an encoding of
// it unpredictable. What the instruction sets have in common is written once, as operations on registers (alu.go, multiply.go,
// media.go, memory.go, branch.go); a32.go, thumb16.go and thumb32.go find the operands. Words of the vector unit go to decodeVector
// and its tables instead.
//
// Prepare, once per probe point, refuses what cannot be displaced. All else is emulated, in the one exception that the breakpoint
// takes: nothing is stepped, and no copy is ever placed anywhere.
//
// A hit is run (cpu.go): registers are copied into a cpu, the row's function works on the copy if the condition holds, and on
// success the copy becomes the registers. Memory is written last, in one call for all bytes that lie together, so an instruction
// that fails has changed nothing. A cpu comes from a pool, since it is reached through a function value and would otherwise be
// allocated at every hit.
//
// There are no threads here and no locks but that of the disassembler, which only Text uses.
//
// # How every class of instruction is run
//
//	class                                what becomes of it
//	data processing, multiplications,    emulated
//	  media, DSP, CRC32, divisions
//	loads, stores, LDM, STM, PUSH, POP,  emulated; words and halves need not be aligned, but those of LDM, STM, LDRD, STRD must
//	  LDRD, STRD, LDRT … STRHT
//	LDA, STL and kin                     emulated; an address that is not aligned faults
//	SWP, SWPB                            emulated by a read and a write, class Swap
//	branches, BX, BLX, CBZ, TBB, TBH     emulated, with the change of the instruction set
//	IT                                   emulated; every instruction behind it advances ITSTATE, also if its condition fails
//	MRS, MSR of CPSR                     emulated as in user mode
//	floating point and SIMD              emulated, with the vector registers: Vectors reports them
//	NOP, WFE, SEV …, PLD, PLI            nothing
//	DMB, DSB, ISB, CLREX, their old      nothing to do: an exception is a barrier of every kind, and clears the monitor
//	  forms in coprocessor 15
//	MRC of the thread pointer            asked of the memory (ThreadPointer), class SystemRegister
//	SVC                                  Control is arch.Syscall: Emulate leaves all as it is, the kernel executes the original
//	LDREX … STREX, LDAEX … STLEX         refused, class Exclusive
//	BKPT, HLT, UDF                       refused, class Trap
//	SETEND                               refused, class Endian; so are, at a hit, accesses while CPSR.E is set
//	CPS, SRS, RFE, HVC, SMC, ERET, MRS   refused, class Privileged
//	  and MSR of SPSR, LDM and STM of
//	  user registers, SETPAN, DCPS
//	other coprocessors, other registers  refused, class Coprocessor
//	  of coprocessor 15
//	unpredictable encodings              refused, and the reason says what is wrong
//
// Of 136,595 instructions of a program with most of Debian's C library 786 are refused: 726 exclusives, 52 of the coprocessor that setjmp
// saves, 8 traps (TestLibraries counts them).
//
// Unpredictable is what the manual calls so: r15 where it is no operand, a write-back to the register transferred, two results in one
// register, bits that should be 0 or 1 and are not, lists without registers, exception returns. Where Armv8 defined what Armv7 left open,
// r13 as an operand of 32-bit Thumb instructions, Armv7 counts: compilers do not make such instructions, and the kernel's tests have them
// refused. Legal are sums and differences of r13, into any register, shifted left by up to 3 if into r13; moves to or from it without a
// shift and without flags; comparisons of it; loads and stores of words; and r13 as a base. Instructions that came with Armv8 may
// name it. Some of it only a hit can tell: a branch inside of an IT block but at
// its end, an instruction that no block may hold, a branch to an address that is 2 modulo 4 in A32, r15 loaded from an address that is
// not aligned. Emulate then fails with the reason, and has changed nothing.
//
// # What an engine has to see to
//
// Conditions. Executes says whether the instruction will do anything; handlers are not to run if not. The breakpoint of A32 has the
// condition of what it displaces, so mostly it is not even hit. Those of Thumb are: an undefined instruction inside of an IT block traps or
// not as the processor likes.
//
// Exclusives. Besides the instructions themselves, everything between a load-exclusive and its store-exclusive must be left alone: the
// exception clears the monitor, and the program would retry for ever. ExclusiveRuns finds those places.
//
// System calls. A site with Control arch.Syscall stays at its instruction; the engine has it executed.
//
// Faults. A *arch.FaultError, which an *AlignmentError also is, leaves the instruction to fault natively.
//
// # Decisions
//
// Why a decoder of our own? The one of x/arch knows neither Thumb nor NEON, and keeps state in a variable while it decodes. It serves Text
// alone, behind a lock.
//
// Why is a function followed, not swept, by Exits and Boundaries? Literals and tables lie between the instructions. A sweep takes them for
// code; a breakpoint in a literal changes what the program computes. Code that only exceptions reach is not found in this way;
// mapping symbols ($a, $t, $d) would tell of it, where a program has kept them.
//
// Why does a lone store-exclusive not fault at a bad address? The architecture leaves open whether the monitor or the address is looked at
// first. Processors that look at the monitor first are what Exec imitates.
package arm
