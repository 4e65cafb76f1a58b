// Package crashsafe is what lets a target survive when its session is killed (SIGKILL): it installs the fallback in
// targets, keeps it in force, and takes over or removes what killed sessions have left. Package fallback has the code
// that runs in the target then, and says how it works.
//
// # Threads
//
// Only the tracing thread of the session uses Guards, Space, Process and Thread. Methods of Thread need the thread in a
// stop; those that make it call the kernel (Protect, ProtectAtHit, Unprotect, Restore, InstallAgain) need its registers
// read and leave it in another kind of stop. Hooks run in the stop of a hit. Clean may be called from any goroutine;
// what it does with threads, it does through a session (Undoer).
//
// # One process, from start to end
//
// The fallback is installed before the first breakpoint of an address space is planted (it may be later in a launched
// program: see engine.Config.LateFallback). In a launched program, the thread that is stopped at the start installs it,
// after the call that made the image. At an attach, a thread is interrupted for it: one that runs, or one that sleeps
// in a call that the kernel restarts exactly. If there is no such thread, the fallback is installed at the first stop.
// It costs four system calls made by the target, once. The other threads that run are held from the last of these calls
// until the calls are watched by which the program would see the handler (hooks.go, mask.go); asleep.go has the threads
// that sleep.
//
// # Order of writes
//
// A breakpoint's entry is in the table before the breakpoint is in the code. It stays there when the
// breakpoint is removed, because a thread may have hit it whose stop has not been seen. An entry is read only for
// addresses that trap, and its byte is written only over a breakpoint, so an unused entry has no effect.
//
// # Being killed during a hit
//
// The session peeks at stops for signals without consuming them (ptrace.PeekStop): until the
// thread is resumed the kernel holds the signal, and delivers it if we die. Registers are written with the resume flag,
// which tells the handler that they need no correction. On ARM, where registers at a breakpoint never need one, the
// handler sees this from the program counter. An out-of-line copy of an instruction runs to its end and jumps back by
// itself. An emulated instruction whose registers have not been written runs again; package fallback lists the cases
// where that is visible.
//
// # Being killed between two writes
//
// What a session changes in a target, and why a kill right behind it does no harm. The rest is in package fallback.
//
//	change                                  then
//	breakpoint's entry in the table         no breakpoint is there yet
//	breakpoint; jump, byte by byte          the handler restores what the entry has, all bytes of a jump
//	debug registers                         the handler was told before, and ignores what they raise
//	CPUs                                    the record was written before: the handler or Clean puts them back
//	memory, by an emulated instruction      the instruction runs again, and writes the same
//	registers, behind a hit                 they are complete, and mark the SIGTRAP as handled
//	registers, at the copy of a step        the copy runs to its jump back; the handler ignores the trap that ends the step
//	breakpoint removed for a step in place  the instruction runs; the next one does too behind mov ss, and its stop is only peeked at until
//	                                        the registers are right
//	registers, at a stub (package inject)   the stub makes the call, sets the mask, loads the registers and jumps home
//	signals blocked at a stub               the thread is in the stub, which sets its mask again
//	signals withheld from a thread          the list of threads keeps its mask and those signals; the handler restores them
//	mask or action that a call of the       the thread is in front of its call and makes it itself, which writes them again
//	program returns, written for it
//	mask set for such a call                the thread is at a stub that sets it and moves on (inject.SetMask)
//	action stored for such a call           the thread is at a stub that hits a breakpoint, so that all are removed, sets the action itself and
//	                                        moves on (inject.SetAction)
//	SIGTRAP that was sent, withheld         the handler removes all breakpoints and blocks it, or the kernel finds it blocked: it is pending
//	siginfo or signal of a stop replaced    the kernel delivers what is there; the signal replaced is in the list
//
// While the session runs, the handler has to stay the action for SIGTRAP: action.go restores it when the kernel has
// reset it, and hooks.go answers the program's own calls that would set it. SIGTRAP has to stay unblocked: mask.go and
// open.go see to that. At the end of the session Unprotect restores the program's own action. If the session was killed
// instead, the next session takes over what it left (takeover.go), or Clean removes it (clean.go, compare.go). The CPUs
// that a session has set for its target (package affinity) are recorded in the region and put back in the same ways
// (pinned.go).
package crashsafe
