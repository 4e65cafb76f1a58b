// Package arm64 is A64, the instruction set of 64-bit ARM: a decoder, and the emulation of what a user process may execute.
//
// # How it works
//
// Decode finds the one row of the tables (table.go) whose mask and value fit the word. A row names the instruction, its class, what it
// does to the flow of control, and the function that carries it out. Words of the vector unit go to decodeVector and its
// tables instead; everything after that is the same for both. An instruction's form (inst) is the word and its row; nothing is
// taken apart before it runs, as a field is one shift away.
//
// Prepare, once per probe point, refuses what cannot be displaced. All else is emulated, in the one exception that the breakpoint
// takes: nothing is stepped, and no copy is ever placed anywhere.
//
// A hit is run (cpu.go): registers are copied into a cpu, the row's function works on the copy, and on success the copy becomes the
// registers. Memory is written last, in one call for all bytes that lie together, so an instruction that fails has changed
// nothing. A cpu comes from a pool, since it is reached through a function value and would otherwise be allocated at every hit.
//
// There are no threads here and no locks but that of the disassembler, which only Text uses.
//
// # How every class of instruction is run
//
//	class                                what becomes of it
//	data processing, loads, stores,      emulated
//	  branches, hints, flags
//	floating point and SIMD              emulated, with the vector registers: Vectors reports them (see below)
//	ldapur, stlur, ldap1, stl1 of SIMD   refused, class Beyond
//	barriers, clrex                      nothing to do: an exception is a barrier of every kind, and clears the monitor
//	wfe, wfi, wfet, wfit, yield          over at once, as they may be at any time
//	prfm                                 nothing
//	ldar, stlr, ldapr, ldapur, stlur     emulated; an address that is not aligned faults, but for ldapr
//	swp, ldadd …, cas, casp              emulated by a read and a write, class Atomic
//	pac*, aut*, braa, retaa, ldraa …     as where pointer authentication is off, class PointerAuth
//	xpac*                                emulated for addresses of 48 bits, class PointerStrip
//	mrs, msr of nzcv, dit, ssbs, tco     emulated
//	mrs, msr of fpcr, fpsr               emulated, with the vector registers
//	mrs, msr of other user registers     asked of the engine (System), class SystemRegister
//	dc zva                               emulated, the block's size asked of the engine, class CacheLine
//	dc cvac …, ic ivau                   handed to the engine, class CacheLine
//	svc                                  Control is arch.Syscall: Emulate leaves all as it is, the kernel executes the original
//	ldxr … stlxp                         refused, class Exclusive
//	brk, hlt, udf                        refused, class Breakpoint
//	hvc, smc, eret, dcps, msr daifset,   refused, class Privileged
//	  sys, sysl and registers of the kernel
//	SVE, SME, smstart, smstop            refused, class Scalable
//	irg, addg, subg, ldg, stg …, stgp    refused, class MemoryTag; subp, subps and gmi only compute, and are emulated
//	cpyf*, cpy*, set*                    refused, class MemoryCopy
//	pacga, ld64b, st64b …, cfp, dvp,     refused, class Beyond
//	  cpp, tcommit, tcancel, ldiapp, stilp
//	writeback to a loaded or stored      refused: the architecture leaves the effect open
//	  register, two loads into one
//
// Of 275,994 instructions of Debian's libc 321 are refused, most of them SVE, MTE and exclusives (TestLibrary counts them).
//
// # Floating point and SIMD
//
// All of Armv8.8 is here, with half precision, rounding to 32 and 64 bits, fjcvtzs, complex numbers, dot products, the matrix products
// of bytes, fmlal, BFloat16, AES with pmull, SHA-1, SHA-2, SHA-3, SM3 and SM4. Tables in files of their own (vector.go tells how they work)
// give an encoding its executor; arithmetic is that of package ieee, computed from bits by the modes in FPCR, and FPSR collects flags.
//
// Some modes exist on newer processors alone, and cannot be compared with any at hand. Instead of a wrong result EmulateVectors
// returns an error that matches arch.ErrUnsupported, and has changed nothing: arithmetic with FPCR.FIZ, AH or NEP set (FEAT_AFP),
// BFloat16 dot products with FPCR.EBF set (FEAT_EBF16), and an exception that FPCR enables a trap for. Instructions of Armv9.5
// (famax, fscale, luti2, those of 8-bit floating point) are undefined to this decoder.
//
// A structure load or store that faults leaves registers and memory as they were, where a processor may have done a part of it: it
// is started again as a whole either way.
//
// # What an engine has to see to
//
// Atomics. A read and a write by way of the kernel have a gap. While a site of class Atomic is emulated, the other threads that
// share the memory have to stand still, or a write of theirs in the gap is lost.
//
// Exclusives. Besides the instructions themselves, everything between a load-exclusive and its store-exclusive must be left alone:
// the exception clears the monitor, and the program would retry for ever. ExclusiveRuns finds those places.
//
// Pointer authentication. Its keys are the process's own. Where the processor has it and the kernel has it on, hints of class
// PointerAuth are no hints: paciasp signs, and emulated as a hint it would leave a return address that a later, native autiasp
// takes for forged. An arch.Memory that is a PointerSigner says so; then what only signs or authenticates fails, and the engine has
// the thread run it. Branches and loads that authenticate go where an unsigned pointer says.
//
// Registers. An arch.Memory that is also a System is asked for what neither arch.Regs nor arch.Vectors hold. One that is also
// a StackChecker can say that its machine does not mind an unaligned stack pointer.
//
// # Decisions
//
// Why are exclusives executed by Exec and refused by Prepare? What a store-exclusive does by itself is no secret: the monitor is clear, so
// it stores nothing and says 1. As a probe this would be an endless loop; as an answer to "what does this instruction do" it is right.
//
// Why BTYPE 01 after br? On a page guarded by BTI it would be 11 for most registers. Whether a page is guarded is not known here, and
// every landing pad that takes 11 takes 01 as well. An emulated instruction never raises the branch target exception.
//
// Why are bits that should be ones or zeroes not looked at? The architecture lets a processor do as if they were right, and all do.
//
// Why is the tag of an address dropped? Linux has the top byte of user addresses ignored, for loads, stores and branches alike.
//
// # Limits
//
// What the target's own processor would not know (an atomic on one without them) is executed all the same. Where memory tagging is on,
// accesses are not checked. Bits of FPCR that only some processors have (trap enables, FEAT_AFP) read as zero once written. An
// acquire or release that is not aligned faults, as it does without FEAT_LSE2.
package arm64
