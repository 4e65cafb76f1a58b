// Package threadstate says in which state a traced thread is, and which changes of it are legal.
//
// A thread has one state at a time. A thread that is attached to begins as Running; a new one, whose creator was
// traced, as Fresh; the first of a launched program as Parked. At a breakpoint a thread becomes Stopped, and Running
// again when the hit is over. While a session ends, a thread becomes Settled as soon as it can be detached, or
// LeftAsleep if it is not to be disturbed. All end as Gone.
//
// The legal changes:
//
//	from \ to    Running Stopped JobStopped Parked Held Settled LeftAsleep Gone
//	Fresh           ·       x        ·        ·     ·      ·        ·        x
//	Running         ·       x        ·        ·     ·      ·        x        x
//	Stopped         x       ·        x        x     x      x        ·        x
//	JobStopped      ·       x        ·        ·     ·      ·        ·        x
//	Parked          ·       x        ·        ·     ·      ·        ·        x
//	Held            ·       x        ·        ·     ·      ·        ·        x
//	Settled         ·       ·        ·        ·     ·      ·        ·        x
//	LeftAsleep      ·       x        ·        ·     ·      ·        ·        x
//	Gone            ·       ·        ·        ·     ·      ·        ·        ·
//
// A Thread value belongs to the goroutine that traces the thread; nothing here locks.
package threadstate
