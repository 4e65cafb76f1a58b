// Package fallback is what a session puts into its targets in case that it dies: a handler for SIGTRAP that undoes
// breakpoints which nobody is there to deal with any more.
//
// # How it works
//
// A breakpoint raises SIGTRAP. As long as a tracer is there, the kernel shows it the signal before the target gets it, and the tracer
// swallows it; so the handler never runs, and costs nothing. When the tracer has been killed, the kernel lets go of
// its tracees, and the next SIGTRAP is delivered. Without a handler it would end the process. With this one, the
// breakpoint's address is looked up in a table, the first bytes of all instructions in the table are put back, and the
// thread goes back to its instruction, which is whole again. Nothing else in the target is touched, and nothing but the handler
// ever runs there.
//
// A region of the target's memory holds, in this order,
//
//   - the page in native/*.S: a head with the program's own action for SIGTRAP, and the handler;
//   - in the rest of that page, at StubAt, code that makes one system call and goes on as if it had not (see Stub, and on ARM ReturnCode);
//   - the table: sixteen bytes for each breakpoint: its address, what it displaced, and itself.
//
// # Why it may be executable, and is sound
//
// The region is mapped readable and executable, never writable: the tracer writes it through /proc/PID/mem. The handler
// writes no memory but the stack it was given; instructions it restores through /proc/self/mem, which needs
// no page to be writable and executable at once and fails politely where memory has gone. Only where there is no
// /proc it makes one page of code writable for a moment.
//
// The handler decides by what no program can fake by accident:
//
//   - si_code SI_KERNEL is an int3 instruction. If it is not in the table it is the program's own.
//   - The resume flag (RF) in the saved flags. An int3 pushes it clear (Intel SDM vol. 3, 19.3.1.1), and user code cannot set it.
//     The tracer sets it together with the program counter, in one request, when it is done with a hit. So a tracer that
//     is killed between that and resuming the thread leaves a SIGTRAP which the handler knows to be history.
//   - TRAP_TRACE with a trap flag that is clear in the saved flags: the kernel hides the flag it set for a tracer, and not
//     the program's own. It is the end of a step of ours: the copy of the instruction goes on by itself, with
//     the jump home that stands behind it. A tracer's death does not take the flag back, so a thread that was stepped last and
//     then stopped raises one more.
//   - TRAP_HWBKPT while the head says that debug registers are armed.
//
// Everything else is passed on to the program's own handler, or treated as the kernel would have.
//
// On ARM and AArch64 it is simpler. A breakpoint is the undefined instruction, or brk, that the kernel makes SIGTRAP of with
// TRAP_BRKPT (ptrace_break in its arch/arm/kernel/ptrace.c; brk_handler and aarch32_break_handler in
// arch/arm64/kernel/debug-monitors.c), and the program counter and si_addr both are the instruction's address. In the table, and at
// that address, means ours. In the table, and somewhere else, means history: the tracer has emulated the instruction, which is all
// that it ever does with one, and set the program counter. An instruction that branches to itself is run again, which is the same.
// The handler for 32-bit ARM is A32 code that Armv5 knows, for A32 and Thumb programs: the kernel changes the instruction set with
// the handler's address, and back. Writes through /proc/self/mem make instruction and data caches agree as those of a tracer do
// (flush_ptrace_access).
//
// # Who else is there
//
// Whoever starts a session can do better than the handler as long as it lives: command gotap's supervisor is told which processes
// have probes, and when the session alone is killed it takes the breakpoints out by Clean; when the supervisor alone is killed, the
// session lets go as usual. The handler is for the time until then, and for the two being killed at once. The other way round, a
// tracer that nobody would think of killing, would only move the question: the kernel lets a thread have one tracer, and nothing
// else can hold its stop at a breakpoint.
//
// # What it does not help against
//
// A breakpoint hit by a thread that blocks SIGTRAP: the kernel does not ask handlers then. Any other signal that an instruction raises would be
// forced on the thread in the same way, so another kind of breakpoint would not help. On x86-64 the engine keeps SIGTRAP unblocked in
// sections that block all signals (package engine, sigmask.go). What is left are threads that block SIGTRAP and not all others; handlers of other
// signals whose action blocks all signals, from their start to their first hit; masks that are set by a bare system call outside of the C
// library, as Go's runtime does; and programs on IA32 and ARM. A child made by CLONE_UNTRACED together with CLONE_CLEAR_SIGHAND: no tracer is told of it, and it
// has no handler. A program that installs a handler for SIGTRAP by a system call of its own (Go's runtime does) takes ours away,
// until the tracer notices. A program that asks for its action by a bare system call sees ours.
//
// A session killed in the tens of microseconds in which it plants the breakpoints that keep SIGTRAP unblocked, or takes them out: a section that
// begins at one that is not there and leads to one that is. Those at which sections end are planted last and taken out first, so this takes
// a section within a section. A process that sends itself signals faster than threads can be stopped may get its handler with its first hit only.
//
// On ARM a thread is lent an instruction that calls the kernel for the first moments of a system call on which a probe stands, and
// for the first of the calls by which the handler is put in where no module has padding behind its code. A session that is killed
// in those microseconds leaves the thread there. A data watchpoint of ARM stops a thread in front of the access, again and again,
// and no handler can take it off: when session and supervisor are killed at once, the next access ends the process.
//
// A session killed in the microseconds between the two halves of an emulated instruction: one that reads, changes and writes a word
// of the stack is then run twice. A call of 64-bit code that is stepped, which calls are only where they cannot be emulated or
// steps were asked for, pushes a return address in the copy: the thread comes home from there, but who looks at the stack meanwhile
// sees it. Signals that were kept from a thread come back without what they were sent with, and once. A command whose session is
// killed while it is being launched ends: it has not run an instruction. It stays stopped instead where a seccomp filter of gotap's
// own forbids prctl.
//
// An attach stops a thread for the four system calls by which all this is put in, and an end stops one to take it out; if every
// thread sleeps in a call that cannot be interrupted without its noticing, the former waits for the first stop and the latter is
// left to the next session, or to Clean. Processes whose seccomp filter forbids a call that this or the handler takes, or cannot be
// asked, get no handler, and the user is told (package engine, confined.go). One that puts on a filter later, or enters strict
// mode, has the handler, which then may not make the calls that it needs: its first breakpoint ends it, unless the filter allows to
// open, read and write files. Instructions cannot be put back without a call. A launched program has none in its first quarter of a
// second before its first hit, with Config.LateFallback.
package fallback
