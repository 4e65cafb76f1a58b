// Package tracee is a traced thread as requests to the kernel see it: its number, and in a stop its registers and the
// siginfo of its signal.
//
// # Threads
//
// Only the tracing thread of a session uses a Thread: the kernel accepts requests for a tracee from no other. Every
// method but UserPC needs the thread in a stop, handled or not. None of them resumes it.
//
// # One stop, from start to end
//
// The session peeks at a stop for a signal without consuming it, and sets Peeked: if the session is killed now, the
// kernel still delivers the signal. GetRegs reads the registers into Regs, SignalCode the siginfo into Info. Programs
// and the emulation change Regs. SetRegs writes them back; in a stop that was only peeked at, with the resume flag,
// which tells the handler of package fallback that they are correct. Then the session resumes the thread, or Consume
// consumes the stop and the thread stays where it is.
//
// The parts of a session that work on single threads (packages inject, sigqueue, crashsafe) share the Thread. What
// else they need of the session is in an interface that each of them declares.
package tracee
