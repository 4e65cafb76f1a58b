// Package fallback provides what a session installs in its targets in case the session dies: a handler for SIGTRAP
// that removes breakpoints which no tracer handles any more.
//
// # How it works
//
// A breakpoint raises SIGTRAP. While a tracer is attached, the kernel reports the signal to the tracer before the
// target gets it, and the tracer suppresses it; so the handler never runs, and costs nothing. When the tracer has
// been killed, the kernel releases its tracees, and the next SIGTRAP is delivered. Without a handler it would end
// the process. With this handler, the breakpoint's address is looked up in a table, the first bytes of all
// instructions in the table are restored, and the thread returns to its instruction, which is whole again. Nothing
// else in the target is touched, and no code but the handler ever runs there.
//
// A region of the target's memory holds, in this order,
//
//   - the page in native/*.S: a head with the program's own action for SIGTRAP, and the handler;
//   - in the rest of that page, at StubAt, code that makes one system call and continues as if it had not (see
//     Stub, and on ARM ReturnCode);
//   - before that code, the CPUs that the session has set for the process, if any (pinned.go);
//   - the table: sixteen bytes for each breakpoint: its address, the bytes that it displaces, and its own bytes. Where
//     a jump may be written over a breakpoint of x86-64 (package inline in engine), it has the five bytes that the jump
//     displaces: the session may be killed while it writes the four behind the breakpoint.
//
// # Why it may be executable, and is sound
//
// The region is mapped readable and executable, never writable: the tracer writes it through /proc/PID/mem. The handler
// writes no memory but the stack that it was given, the list of threads and the record of CPUs. It restores
// instructions through /proc/self/mem, which needs no page to be writable and executable at once and fails with an
// error where memory no longer exists. Only where there is no /proc does it make one page of code writable for a
// moment.
//
// The handler decides by facts that no program can fake by accident:
//
//   - si_code SI_KERNEL means an int3 instruction. If it is not in the table, it is the program's own.
//   - The resume flag (RF) in the saved flags. An int3 pushes it clear (Intel SDM vol. 3, 19.3.1.1), and user code
//     cannot set it. The tracer sets it together with the program counter, in one request, when it has finished a
//     hit. So a tracer that is killed between that and resuming the thread leaves a SIGTRAP that the handler
//     recognises as obsolete.
//   - TRAP_TRACE with a trap flag that is clear in the saved flags: the kernel hides the flag that it set for a
//     tracer, but not the program's own. The trap is the end of one of our steps: the copy of the instruction
//     continues by itself, with the jump behind it that returns to the program's code. A tracer's death does not
//     clear the flag, so a thread that was last stepped and then stopped raises one more.
//   - TRAP_HWBKPT while the head says that debug registers are armed.
//
// Everything else is passed on to the program's own handler, or treated as the kernel would have treated it, but for
// this: SIGTRAP is open in threads that block all signals (mask.go in package crashsafe), so that one may arrive that
// was sent and that the program believes blocked. The tracer withholds it. It marks the si_code of every one that it
// lets a thread have (SentCode), so one without the mark has come after the tracer's death. If the thread blocks all
// other signals that instructions raise, the handler blocks SIGTRAP and sends itself the signal again with its siginfo,
// where it stays pending. Before that it restores all instructions, as a breakpoint that the thread hit now would end
// the process. A program whose thread blocks all these signals but lets SIGTRAP through on purpose gets such a signal
// only when it changes the mask.
//
// When it restores instructions, the handler for x86-64 also puts back the CPUs that its thread may run on, if the
// session had set others and these are still in force, and removes the record. A session sets them only in processes
// with one thread and without a filter of system calls (package affinity).
//
// On ARM and AArch64 it is simpler. A breakpoint is the undefined instruction, or brk, for which the kernel raises
// SIGTRAP with TRAP_BRKPT (ptrace_break in its arch/arm/kernel/ptrace.c; brk_handler and aarch32_break_handler in
// arch/arm64/kernel/debug-monitors.c). The program counter and si_addr are both the instruction's address. If
// si_addr is in the table and the program counter is still there, the breakpoint is ours. If si_addr is in the
// table and the program counter is elsewhere, the signal is obsolete: the tracer has emulated the instruction,
// which is all that it ever does with one, and set the program counter. An instruction that branches to itself runs
// again, which has the same result. The handler for 32-bit ARM is A32 code for Armv5 and later, for A32 and Thumb
// programs: the kernel changes the instruction set with the handler's address, and back. Writes through
// /proc/self/mem make instruction and data caches agree, as a tracer's writes do (flush_ptrace_access).
//
// # What else restores the code
//
// The program that starts a session can do better than the handler while it lives: command gotap's supervisor knows
// which processes have probes, and when only the session is killed, the supervisor removes the breakpoints with
// Clean; when only the supervisor is killed, the session detaches as usual. The handler covers the time until then,
// and the case that both are killed at once. The opposite design, a tracer that nobody would think of killing,
// would only move the problem: the kernel allows a thread one tracer, and nothing else can hold its stop at a
// breakpoint.
//
// # What it does not help against
//
// A breakpoint hit by a thread that blocks SIGTRAP: the kernel does not run handlers then. Any other signal that an
// instruction raises would be forced on the thread in the same way, so another kind of breakpoint would not help. The
// engine keeps SIGTRAP unblocked in sections that block all signals (mask.go in package crashsafe). These cases remain:
// threads that block SIGTRAP but not all other signals; threads to which a SIGTRAP was sent while they block all
// signals, in which it stays blocked until they unblock it; handlers of other signals whose action blocks all signals,
// from their start to their first hit; and masks that are set by a bare system call outside the C library, as Go's
// runtime does, or in a C library whose calls are not recognised (patterns.go there). A child made by CLONE_UNTRACED
// together with CLONE_CLEAR_SIGHAND: no tracer is notified of it, and it has no handler. A program that installs a
// handler for SIGTRAP by a system call of its own (Go's runtime does) replaces ours until the tracer notices. A program
// that queries its action by a bare system call sees ours. A program that sets its action after the tracer's death does
// so itself, and the handler has removed all breakpoints before; but another thread may have hit one whose SIGTRAP is
// still to come, and then the program gets that.
//
// A session killed in the moment in which it plants or removes the breakpoints that keep SIGTRAP unblocked. Threads
// that run are held meanwhile, but one that sleeps may wake, begin a section at a place without a breakpoint, and come
// to one that has a breakpoint. Threads are looked at behind each kind of these breakpoints, so that takes two calls
// within some ten microseconds. SIGTRAP is unblocked in such a thread at once, or at its next stop if it sleeps in a
// call that must not be interrupted; and in a child that it has created, at the child's first stop. A process that
// sends itself signals faster than threads can be stopped may get its handler only with its first hit.
//
// On ARM a thread is sent to a system call instruction of other code for the first of the calls that install the
// handler if no module has padding behind its code, and for the first moments of a system call that has a breakpoint if
// no memory for a copy can be mapped within reach (of AArch64: 127 MiB), or a filter of system calls forbids it. If the
// session is killed in those microseconds, the thread stays there; or, from a copy whose original is in the middle of
// an IT block of Thumb code, runs the rest of the block without its conditions. A data watchpoint of ARM stops a thread
// before the access, again and again, and no handler can remove it: if session and supervisor are killed at once, the
// next access ends the process.
//
// A session killed in the microseconds between the two halves of an emulated instruction: an instruction that reads,
// changes and writes a word of the stack then runs twice. So does on ARM an atomic instruction, and one of the vector
// unit, whose registers are written before the others: if its result is one of its operands, it is wrong. A call of
// 64-bit code that is stepped, which happens only if calls cannot be emulated or steps were requested, pushes a return
// address in the copy: the thread returns from there to its own code, but code that reads the stack meanwhile sees it.
// Signals that were withheld from a thread come back only once and without their siginfo. A command whose session is
// killed during the launch ends without having run an instruction. It stays stopped instead if a seccomp filter on
// gotap itself forbids prctl.
//
// An attach stops a thread for the four system calls that install all this, and the end of a session stops one to
// remove it. The other threads that run are held until the program's own calls are watched, so that they do not see the
// handler (asleep.go in package crashsafe has those that sleep). If every thread sleeps in a call that cannot be
// interrupted unnoticed, the installation waits for the first stop, and the removal is left to the next session or to
// Clean. Processes whose seccomp filter forbids a call that the installation or the handler needs, or whose filter
// cannot be queried, get no handler, and the user is notified (package inject). A process that installs a filter later,
// or enters strict mode, keeps the handler, which then may not make the calls that it needs: the first breakpoint ends
// the process, unless the filter allows opening, reading and writing files. Instructions cannot be restored without a
// system call. With Config.LateFallback, a launched program has no handler in its first quarter of a second before its
// first hit.
package fallback
