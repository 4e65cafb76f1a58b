// Package x86 implements x86-64 and IA-32: one decoder, one set of emulations and one set of step repairs for both
// modes.
//
// # How it works
//
// Decode splits an instruction by the letter maps in tables.go into prefixes (decode.go, vector.go), opcode, ModRM,
// displacement and immediates. It determines where the parts lie, which is all that moving an instruction needs,
// and refuses bytes that no processor executes. Only Text uses the x/arch disassembler, which has wrong lengths for
// some instructions and does not recognize RIP-relative operands of vector instructions.
//
// Prepare runs once for each probe point and answers three questions. Can the instruction be displaced at all
// (refusal)? Can it be emulated (lower, which makes a form)? What does a step of its copy leave wrong (repairOf)?
// The site holds the answers and never changes.
//
// A hit is completed in one of three ways. Emulate switches on the form. Or the engine places the result of
// OutOfLine in a slot, calls BeforeStep, single-steps the thread and calls AfterStep. Or it restores the original
// bytes, stops the other threads, and does the same with the instruction's own address as the slot.
//
// A probe may also be a jump in place of instructions (window.go). WindowAt decides which instructions a jump of five
// bytes replaces, and moved.go makes their copy, which runs at full speed: no tracer stops the thread and repairs what
// it left. Branches finds what leads into the middle of such a window.
//
// Exec executes single instructions that are given with their state, as by "gotap emulate" (exec.go and one file
// for each kind). It executes everything that general registers, flags and memory describe, including instructions
// that a probe steps because an emulation would not be atomic or could not raise their exceptions.
//
// The package has no threads, locks or variables: everything is a function of a register file and a memory.
//
// # How every class of instruction is run
//
// E: emulated (else stepped out of line if asked, or if the emulation fails); O: stepped out of line; R: refused.
//
//	class                                  how  what is corrected after a step
//	mov, movzx, movsx, lea, xchg of        E    program counter
//	  registers, bswap, cmov, set, cbw,
//	  cwd …, lahf, sahf, flag bits
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
//	any RIP-relative operand               as   displacement corrected, or a register borrowed and returned
//	                                       the class says
//	far call                               O    the pushed return address
//	far jmp, far ret                       O    nothing
//	iret                                   O    the trap flag is the popped one
//	syscall                                O    program counter, also at a restart; rcx, and the trap flag in r11
//	sysenter, 32-bit syscall, int 0x80     O    program counter, unless the kernel set its own
//	rep string instructions                O    not done until the program counter leaves: one step an iteration
//	mov ss, pop ss                         O    the step also executes the jump back behind the copy
//	sgdt, str … under UMIP                 O    the same
//	xbegin, where the processor reports    E    never stepped: the transaction aborts at once, with status 0
//	  that it has it
//	xbegin elsewhere                       O    it faults in the slot as in the original place; if the processor executes
//	                                            it, the copy leads to the abort handler. The step then includes a jump
//	                                            of the copy; in place, the first instruction of the handler
//	xend, xtest, xabort                    O    program counter
//	lock, xchg with memory                 O    program counter; the step is atomic
//	x87, but its control instructions      O    program counter; its address in the floating-point state (pointer.go)
//	MMX, SSE, AVX, AVX-512, AMX            O    program counter
//	rdtsc, cpuid, rdfsbase …               O    program counter
//	in, out, cli, hlt, mov cr …            O    they fault in the slot as in the original place
//	ud2, ud1, ud0                          O    the same
//	into, int n                            O    the same
//	lwpins, lwpval                         O    in place only: they log their address
//	enclu                                  R    the enclave learns the address behind it
//	int3, int 3, int1                      R    would look like the engine's own traps
//	branches with a 66 prefix              R    AMD and Intel disagree on what they do
//	  (in 64-bit mode: without REX.W; returns and indirect jumps are stepped)
//	not decoded; APX                       R
//
// An instruction that faults leaves its thread at the start of the slot. AfterStep restores the original program
// counter and reports that the instruction is not done. The engine also corrects si_addr of the signal if it is an
// address in the slot (SIGILL, SIGFPE, SIGTRAP).
//
// # Instructions that reveal the address of a copy
//
// All instructions in the decoder's tables were checked for a result, a pointer in memory or a state that contains
// the instruction's own address. This list is complete.
//
//	call, far call                        The return address on the stack is corrected in the stop behind the step
//	                                      (afterCall; TestSpecial64). If the slot outlives the session, the jump
//	                                      behind the copy leads back.
//	jmp, jcc, loop, xbegin                The target is relative: the copy has another displacement, or the target
//	                                      is corrected (redirect, afterBranch; TestRandomInstructions). xbegin is
//	                                      emulated, or its copy goes to the real target (TestBegin, TestTransactions).
//	xend, xtest, xabort                   They reveal a transaction, not an address. A probe is never hit in one,
//	                                      because its breakpoint aborts the transaction, so they execute outside
//	                                      one, as natively (TestTransactions).
//	lea, mov and all others that are      The displacement is corrected, or a register borrowed, so that the address
//	  RIP-relative                        is the same (TestRealInstructions: every vector encoding, and x87).
//	syscall                               rcx is the address behind the copy. It is corrected at the stop on entry
//	                                      to the call, so that signal handlers and children see the right one
//	                                      (afterSyscall; TestSpecial64).
//	sysenter, int 0x80                    The kernel keeps the address; the registers are corrected at the stop on
//	                                      entry to the call. sysenter returns to the vdso.
//	x87 instructions                      The unit keeps the address, which fnstenv, fnsave, fxsave, xsave and
//	                                      signal frames show. It is corrected after the step (RepairAddress;
//	                                      TestFloatAddress here and in the engine).
//	fnstenv, fnsave, fxsave, xsave        They store what the unit keeps. As control instructions they do not record
//	                                      their own address. Other parts of an xsave image (SSE to AMX, PKRU)
//	                                      contain no address of code.
//	fldenv, frstor, fxrstor, xrstor       The address comes from memory, not from a copy, and is kept.
//	faults of all kinds                   The program counter of the signal frame is corrected, and si_addr where
//	                                      the kernel puts the address of the instruction there (home, faultInStep of
//	                                      the engine; TestSpecial64).
//	rep string instructions               Between two iterations the program counter is that of the copy; no signal
//	                                      is delivered there.
//	pushf, popf, iret, syscall            They reveal the trap flag, not an address; it is corrected
//	                                      (TestSpecial64).
//	endbr                                 A nop: Linux does not track the indirect branches of programs (IBT).
//	wrss, incssp, rdssp, rstorssp         They are correct as long as calls are stepped in place: see Limits.
//	rdpkru, rdpid, rdtscp, rdpmc, rdpru,  A number that does not depend on the address.
//	  cpuid, xgetbv, rdfsbase, umwait
//	sgdt, sidt, sldt, str, smsw           Addresses of the kernel's tables, or what the kernel shows instead.
//	enclu                                 Refused: it leaves the address behind itself in rcx for the enclave, which
//	                                      returns there (TestAddressesTold).
//	lwpins, lwpval (AMD family 15h)       The record that they write has their address: they are stepped in place
//	                                      (TestAddressesTold).
//	uiret, senduipi …                     Linux gives programs no user interrupts: they raise an exception.
//	ptwrite, and branches under a trace   A trace of the processor (Intel PT, LBR) shows the copy to its reader.
//	vmcall, vmmcall                       The hypervisor may look at the program counter; its interfaces for
//	                                      programs do not.
//
// # Decisions
//
// Why does a window refuse more than OutOfLine? Nothing corrects the thread behind the copy of a window. So it borrows
// no register, and system calls (rcx), x87 instructions (their address), popf and iret (the trap flag), and what raises
// an exception are refused. A call is copied as a push of the original return address and a jump.
//
// Why do endbr64 instructions become part of a window? Linux does not track the indirect branches of programs, so a
// jump may replace them. A window behind endbr64 would be reached by direct branches that skip it, too.
//
// Why are stores to shared memory stepped? A processor writes an aligned word atomically. An emulation writes
// through the kernel, which does not guarantee that, and between the read and the write of a modification another
// thread's write can be lost. Loads and stack accesses are emulated.
//
// Why does Emulate fail if the trap flag is set? The program single-steps itself and expects a trap after this very
// instruction; a native step raises it. If AC is set, an access may have to fault because of its alignment.
//
// Why borrow a register instead of using a slot nearby? It works at any distance, so slots need not be near every
// module. The instruction cannot see the register, and AfterStep returns it however the step ended.
//
// # Limits
//
// If the tracer of a thread dies during the step of an x87 instruction, the thread's floating-point state holds the
// address of the copy until the next x87 instruction. Shadow stacks are not supported: in a thread that has one,
// the engine has to step calls and returns in place. Flags that the architecture leaves undefined are set as AMD's
// processors set them, which may differ from the processor at hand. mov ss, pop ss and instructions that the kernel
// emulates execute the next instruction too when they are stepped in place.
package x86
