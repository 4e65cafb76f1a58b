// Package inject makes threads of a target call the kernel for the session: to map memory for the copies of
// instructions and for the crash handler, and to set the action for SIGTRAP.
//
// # Threads
//
// Only the tracing thread of the session uses this package. A Caller belongs to one thread, which must be in a stop
// with its registers read, between two instructions and not inside a system call. The session's other threads may run.
//
// # One call, from start to end
//
// Call asks the thread's seccomp filters whether they allow the call (filters.go). A thread that is between two
// instructions, at a breakpoint or where it was interrupted, then runs through a few instructions (a stub, see package
// fallback): they make the call, load the registers that it changed, and continue where the thread was. Normally the
// tracer stops the thread behind the call, reads the result and restores the registers itself; if the tracer dies in
// the middle, the thread continues on its own. A system call that the stop interrupted is restarted, as the kernel
// would have done. Afterwards the thread is in another kind of stop. The signal that it was stopped with is lost.
//
// All signals are blocked meanwhile, so that none arrives while the thread's registers are not its own, or is lost
// with our own stops; they stay queued in the kernel, in order. Only SIGTRAP stays unblocked, unless the thread
// blocks it: if the tracer dies now, the SIGTRAP of the present stop is left behind, and the handler has to receive
// it at the start of the stub, where it recognises it as obsolete. The order of the requests guarantees that the
// thread is in the stub, which sets the mask again, whenever signals are blocked.
//
// The stub lies in the fallback's region. Before that exists, the stub lies temporarily in the padding behind a
// module's code; the padding is checked to be all zeros, and is zeroed again afterwards (padding.go).
//
// SetMask and SetAction make a call of the program's own in its place (mask.go and action.go in package crashsafe). The
// thread is at code that would complete the call by itself, so that what the call changes and the thread's registers
// change together if the tracer dies.
//
// On ARM the thread runs through different code (arm.go). Where there is no room for it, the thread is sent to a system
// call instruction of its own program (gadget.go).
package inject
