// Package sigqueue keeps signals from a thread of a target while it must not receive them, and delivers them later as
// they came: with their siginfo and in their order.
//
// # Threads
//
// Only the tracing thread of the session uses this package. A Queue belongs to one thread. Its methods need the thread
// in a stop; methods that take a signal need the stop of that signal. Postpone, KeepIfStarved and PutOff resume the
// thread when they have kept something.
//
// # One signal, from start to end
//
// A signal arrives while the thread is in a step: its program counter is in memory that the program does not know.
// Postpone keeps it with its siginfo, notes in the list of package fallback that it is withheld (if the session is
// killed, the handler delivers it), and blocks all further signals, which stay queued in the kernel. When the step is
// over, AfterHit restores the thread's own mask and delivers the oldest kept signal in the stop that ends the step. All
// others are sent again (Requeue). Each of them comes back as a stop in which Identify puts the original siginfo in
// place.
//
// # Starvation
//
// A probe on every instruction can make a program so slow that a periodic signal arrives again before its handler
// has returned. The kernel then delivers the next signal at the moment in which the handler returns, and the
// interrupted code never runs another instruction: a program that is merely slow would hang. So a thread that is
// about to be interrupted at a place where it was interrupted before is relieved: the signal is kept for a number
// of hits, and delivered then.
//
// A kept signal must not be late for a system call that it has to interrupt. Therefore it is kept for hits only
// while the thread's next action is certain to be a hit: its program counter is at one of our breakpoints, and the
// instruction there is not a system call. Elsewhere the thread runs at its own speed, and freeRunTime is enough:
// after that time the thread is interrupted, and the signal is sent again. Nothing is blocked in the meantime,
// because the thread may read its mask. If the thread reaches a system call before that, the call is postponed
// until the signal's handler has returned: the call may be the one that stops the timer, and afterwards the program
// may have no handler for the signal.
package sigqueue
