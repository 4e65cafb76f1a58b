// Package arm64 implements A64, the instruction set of 64-bit ARM: a decoder, and emulation of everything that a
// user process may execute.
//
// # How it works
//
// Decode finds the row of the tables (table.go) whose mask and value match the word. A row has the name of the
// instruction, its class, its effect on the flow of control, and the function that executes it. decodeVector and
// its tables handle the vector unit; everything after that is the same for both. The decoded form (inst) is the
// word and its row. Fields are extracted when the instruction runs.
//
// Prepare runs once for each probe point and refuses instructions that cannot be displaced. All others are emulated
// at the stop for the breakpoint: nothing is stepped, and no copies are made but of system calls.
//
// At a hit (cpu.go), the registers are copied into a cpu, the row's function works on the copy, and on success the
// copy becomes the registers. Memory is written last, with one call for adjacent bytes, so an instruction that
// fails has changed nothing. Machines come from a pool: a cpu is passed to a function value and would otherwise be
// allocated at every hit.
//
// The package starts no threads and has one lock, that of the disassembler, which only Text uses.
//
// # How each class of instruction is handled
//
//	class                                handling
//	data processing, loads, stores,      emulated
//	  branches, hints, flags
//	floating point and SIMD              emulated, with the vector registers: Vectors reports them (see below)
//	ldapur, stlur, ldap1, stl1 of SIMD   refused, class Beyond
//	barriers, clrex                      no effect: the exception is a barrier of every kind, and clears the monitor
//	wfe, wfi, wfet, wfit, yield          complete at once, which the architecture allows
//	prfm                                 no effect
//	ldar, stlr, ldapr, ldapur, stlur     emulated; an address that is not aligned faults, except for ldapr
//	swp, ldadd …, cas, casp              emulated by a read and a write, class Atomic
//	pac*, aut*, braa, retaa, ldraa …     as if pointer authentication were off, class PointerAuth
//	xpac*                                emulated for addresses of 48 bits, class PointerStrip
//	mrs, msr of nzcv, dit, ssbs, tco     emulated
//	mrs, msr of fpcr, fpsr               emulated, with the vector registers
//	mrs, msr of other user registers     read and written by the engine (System), class SystemRegister
//	dc zva                               emulated; the engine provides the block's size; class CacheLine
//	dc cvac …, ic ivau                   passed to the engine, class CacheLine
//	svc                                  Control is arch.Syscall: Emulate changes nothing, the kernel executes the original
//	ldxr … stlxp                         refused, class Exclusive
//	brk, hlt, udf                        refused, class Breakpoint
//	hvc, smc, eret, dcps, msr daifset,   refused, class Privileged
//	  sys, sysl and registers of the kernel
//	SVE, SME, smstart, smstop            refused, class Scalable
//	irg, addg, subg, ldg, stg …, stgp    refused, class MemoryTag; subp, subps and gmi only compute, and are emulated
//	cpyf*, cpy*, set*                    refused, class MemoryCopy
//	pacga, ld64b, st64b …, cfp, dvp,     refused, class Beyond
//	  cpp, tcommit, tcancel, ldiapp, stilp
//	writeback to a loaded or stored      refused as unpredictable
//	  register, two loads into one
//
// Of 275,994 instructions of Debian's libc, 321 are refused, most of them SVE, MTE and exclusives (counted by
// TestLibrary).
//
// # Floating point and SIMD
//
// All of Armv8.8 is emulated, with half precision, rounding to 32 and 64 bits, fjcvtzs, complex numbers, dot
// products, matrix products of bytes, fmlal, BFloat16, AES with pmull, SHA-1, SHA-2, SHA-3, SM3 and SM4. Separate
// tables map encodings to executors (see vector.go). Package ieee computes from bits, with the modes in FPCR; FPSR
// collects flags.
//
// Some modes exist only on newer processors and could not be compared with hardware. For these, EmulateVectors
// fails with an error that matches arch.ErrUnsupported and changes nothing: arithmetic with FPCR.FIZ, AH or NEP set
// (FEAT_AFP), BFloat16 dot products with FPCR.EBF set (FEAT_EBF16), and exceptions for which FPCR enables a trap.
// The instructions of Armv9.5 (famax, fscale, luti2, those of 8-bit floating point) do not decode.
//
// A structure load or store that faults changes neither registers nor memory. A processor may have executed a part
// of it. Either way, the whole instruction is restarted.
//
// # What an engine has to consider
//
// Atomics. A read and a write through the kernel have a gap. While a site of class Atomic is emulated, the other
// threads that share the memory must be stopped, or a write of theirs in the gap is lost.
//
// Exclusives. The instructions between a load-exclusive and its store-exclusive cannot be probed either: the
// exception clears the monitor, and the program would retry forever. ExclusiveRuns finds these places.
//
// Pointer authentication. Only the process has its keys. If the processor and the kernel have it on, hints of class
// PointerAuth are not hints: paciasp signs, and if it were emulated as a hint, a later native autiasp would reject
// the return address. An arch.Memory that is a PointerSigner reports that it is on. Then instructions that only
// sign or authenticate fail, and the engine has the thread execute them. Branches and loads that authenticate go
// where an unsigned pointer leads.
//
// Registers. An arch.Memory that is a System provides what neither arch.Regs nor arch.Vectors hold. One that is a
// StackChecker reports whether its machine checks the alignment of the stack pointer.
//
// # Decisions
//
// Why does Exec execute exclusives that Prepare refuses? The effect of a store-exclusive by itself is known: the
// monitor is clear, so it stores nothing and returns 1. With a probe the program would loop forever; as an answer
// to "what does this instruction do" it is right.
//
// Why is BTYPE 01 after br? On a page guarded by BTI it would be 11 for most registers. The package does not know
// whether a page is guarded, and every landing pad that accepts 11 also accepts 01. An emulated instruction never
// raises the branch target exception.
//
// Why are bits that should be one or zero not checked? The architecture lets a processor treat them as if they were
// right, and all processors do.
//
// Why is the tag of an address dropped? Linux configures processors to ignore the top byte of user addresses, for
// loads, stores and branches.
//
// # Limits
//
// Instructions that the target's own processor lacks, such as atomics, are executed nevertheless. With memory
// tagging on, accesses are not checked. Bits of FPCR that only some processors have (trap enables, FEAT_AFP) read
// as zero after a write. An unaligned acquire or release faults, as it does without FEAT_LSE2.
// acquire or release that is not aligned faults, as it does without FEAT_LSE2.
package arm64
