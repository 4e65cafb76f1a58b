// Package x86 is x86-64 and IA-32: one decoder, one set of emulations and one set of step repairs for both modes.
//
// # How it works
//
// Decode takes an instruction apart by the letter maps in tables.go: prefixes (decode.go, vector.go), opcode,
// ModRM, displacement, immediates. It knows where the parts lie, which is all that moving an instruction takes, and
// refuses bytes that no processor runs. Text is the only user of the x/arch disassembler, which has wrong lengths
// for some instructions and does not see RIP-relative operands of vector instructions.
//
// Prepare, once per probe point, asks three questions: may the instruction be displaced at all (refusal), can it be
// emulated (lower, into a form), and what does a step of its copy leave wrong (repairOf). The answers are in the
// site, which is never changed again.
//
// A hit then takes one of three ways. Emulate is a switch over the form. Or the engine places what OutOfLine
// returns in a slot, calls BeforeStep, single-steps the thread, and calls AfterStep. Or it puts the original bytes
// back, holds the other threads, and does the same with the instruction's own address for a slot.
//
// Exec is for single instructions that are given with their state, as "gotap emulate" is: it executes all that general registers,
// flags and memory describe (exec.go, and a file for each kind), also what a probe has the processor step since an emulation would
// not be atomic, or could not raise the exceptions.
//
// There are no threads here, no locks and no variables: everything is a function over a register file and a memory.
//
// # How every class of instruction is run
//
// E: emulated (else stepped out of line if asked, or if the emulation fails); O: stepped out of line; R: refused.
//
//	class                                  how  what is put right after a step
//	mov, movzx, movsx, lea, xchg of        E    program counter
//	  registers, bswap, cmov, set, cbw,
//	  cwd and kin, lahf, sahf, flag bits
//	add … cmp, test, inc, dec, not, neg    E    program counter
//	shl, shr, sar by an immediate          E    program counter
//	bt, bts, btr, btc of a register        E    program counter
//	the same, writing memory that is not   O    program counter; emulation is allowed, but not atomic
//	  on the stack
//	nop, endbr, pause, prefetch            E    program counter
//	push, pop register, leave              E    program counter
//	pushf                                  E    the trap flag in the pushed word is the program's
//	popf                                   E    the trap flag is the popped one; emulation fails if TF or ID would change
//	jmp, jcc, loop, jrcxz                  E    a target relative to the slot becomes the real one
//	call relative                          E    the same, and the pushed return address
//	call indirect                          E    the pushed return address
//	ret, jmp indirect                      E    nothing: the target is absolute
//	any RIP-relative operand               as   displacement corrected, or a register borrowed and given back
//	                                       the class says
//	far call                               O    the pushed return address
//	far jmp, far ret                       O    nothing
//	iret                                   O    the trap flag is the popped one
//	syscall                                O    program counter, also of a restart; rcx, and the trap flag in r11
//	sysenter, 32-bit syscall, int 0x80     O    program counter, unless the kernel set its own
//	rep string instructions                O    not done until the program counter leaves: one step an iteration
//	mov ss, pop ss                         O    the step takes in the jump behind the copy, and so comes home
//	sgdt, str … under UMIP                 O    the same
//	xbegin, where the processor has it     E    never stepped: the transaction aborts at once, with status 0
//	xbegin elsewhere                       O    it faults in the slot as it would at home
//	xend, xtest, xabort                    O    program counter
//	lock, xchg with memory                 O    program counter: atomic as ever
//	x87, but its control instructions      O    program counter; its address in the floating-point state (pointer.go)
//	MMX, SSE, AVX, AVX-512, AMX            O    program counter
//	rdtsc, cpuid, rdfsbase …               O    program counter
//	in, out, cli, hlt, mov cr …            O    they fault in the slot as they would at home
//	ud2, ud1, ud0                          O    the same
//	into, int n                            O    the same
//	lwpins, lwpval                         O    in place only: they log their address
//	enclu                                  R    the enclave is told the address behind it
//	int3, int 3, int1                      R    taken for the engine's own traps
//	branches with a 66 prefix              R    AMD and Intel disagree on what they do
//	  (in 64-bit mode: without REX.W; returns and indirect jumps are stepped)
//	not decoded; APX                       R
//
// An instruction that faults leaves its thread at the start of the slot; AfterStep puts the program counter back to
// the original address and says that the instruction is not done. Whoever delivers the signal should correct
// si_addr in the same way when it is an address in the slot (SIGILL, SIGFPE, SIGTRAP).
//
// # Who is told the address of a copy
//
// All instructions of the decoder's tables were gone through for a result, a pointer in memory or a state that has the instruction's own
// address in it. These are they; no other lets anybody know where it was executed.
//
//	call, far call                        The return address on the stack is corrected in the stop behind the step (afterCall; TestSpecial64).
//	                                      Where the slot outlives the session it leads home by the jump behind the copy.
//	jmp, jcc, loop, xbegin                The target is relative: the copy has another displacement, or the target is corrected (redirect,
//	                                      afterBranch; TestRandomInstructions). xbegin is emulated (TestBegin, TestTransactions).
//	xend, xtest, xabort                   They tell of a transaction, not of an address. A probe is never hit in one, since its breakpoint
//	                                      aborts the transaction; so they are executed outside of one, as natively (TestTransactions).
//	lea, mov and all else that is         The displacement is corrected, or a register borrowed, so that the address is the same
//	  RIP-relative                        (TestRealInstructions: every vector encoding, and x87).
//	syscall                               rcx is the address behind the copy; it is corrected, in the stop at the kernel's door already, so that
//	                                      signal handlers and children see the right one (afterSyscall; TestSpecial64).
//	sysenter, int 0x80                    The kernel keeps the address; the registers are corrected at its door. sysenter returns to the vdso.
//	x87 instructions                      The unit keeps the address, which fnstenv, fnsave, fxsave, xsave and frames of signal handlers
//	                                      have; it is corrected behind the step (RepairAddress; TestFloatAddress here and in the engine).
//	fnstenv, fnsave, fxsave, xsave        They store what the unit keeps, and are control instructions: it is not their own address. The
//	                                      other parts of an xsave image that programs get (SSE to AMX, PKRU) have no address of code.
//	fldenv, frstor, fxrstor, xrstor       The address comes from memory; it is none of a copy's and is left alone.
//	faults of all kinds                   The program counter of the signal frame is corrected, and si_addr where the kernel puts the address
//	                                      of the instruction there (home, faultInStep of the engine; TestSpecial64).
//	rep string instructions               Between two iterations the program counter is that of the copy; no signal is delivered there.
//	pushf, popf, iret, syscall            They tell of the trap flag, not of an address; it is corrected (TestSpecial64).
//	endbr                                 A nop: Linux does not track the indirect branches of programs (IBT).
//	wrss, incssp, rdssp, rstorssp         They are right as long as calls are stepped in place: see Limits.
//	rdpkru, rdpid, rdtscp, rdpmc, rdpru,  A number that does not depend on the address.
//	  cpuid, xgetbv, rdfsbase, umwait
//	sgdt, sidt, sldt, str, smsw           Addresses of the kernel's tables, or what the kernel shows for them.
//	enclu                                 Refused: it leaves the address behind itself in rcx for the enclave, which keeps it as its way back
//	                                      (TestAddressesTold).
//	lwpins, lwpval (AMD family 15h)       The record that they write has their address: they are stepped in place (TestAddressesTold).
//	uiret, senduipi and kin               Linux gives programs no user interrupts: they raise an exception.
//	ptwrite, and branches under a trace   A trace of the processor (Intel PT, LBR) shows the copy to its reader.
//	vmcall, vmmcall                       The hypervisor may look at the program counter; its interfaces for programs do not.
//
// # Decisions
//
// Why are stores to shared memory stepped? A processor writes an aligned word at once. An emulation writes through
// the kernel, which promises nothing of the kind, and a read-modify-write has a gap in which another thread's write
// gets lost. Loads and stack traffic are emulated.
//
// Why does Emulate fail if the trap flag is set? The program single-steps itself and expects a trap after this very
// instruction; a native step gives it one. With AC set an access may have to fault for its alignment.
//
// Why a borrowed register rather than a slot nearby? It works at any distance, so slots need not be near every
// module. The register is one that the instruction cannot see, and AfterStep returns it however the step ended.
//
// # Limits
//
// A thread whose tracer dies in the step of an x87 instruction has the copy's address in its floating-point state until it executes the
// next one. A shadow stack is not kept: in a thread that has one, calls and returns have to be stepped in place, as the engine does.
// Flags that the architecture leaves undefined are set as AMD's processors do, which need not be what the processor at hand
// does. mov ss, pop ss and what the kernel emulates take in the next instruction when stepped in
// place.
package x86
