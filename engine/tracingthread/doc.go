// Package tracingthread is an operating-system thread that traces. The kernel accepts requests for a tracee only from
// the thread that seized it, so a session keeps one thread for its whole life, and other goroutines post to it.
//
// # Threads
//
// Do, After, Tid, Dead and Ended may be called from any goroutine, Do and Ended not from the thread itself. RunTasks,
// MayWait, Waited and Idle are for the body, which runs on the thread.
//
// # One task, from start to end
//
// Do queues a closure. If the thread sleeps in wait4, which only a tracee's report or a signal ends, Do kicks it with a
// signal, again and again until the closure has run. The body, woken, calls Waited and RunTasks, which runs all that is
// queued, and Do returns. When the body returns, all callers that still wait get ErrClosed, and the thread ends. The
// kernel detaches what it still traces.
//
// After keeps a closure until its time. A timer of the kernel then interrupts wait4 (timer.go), and RunTasks calls the
// closure. Where the kernel has no timer left, a goroutine kicks the thread as Do does.
//
// The package knows nothing of sessions and tracees: the body does the waiting. Without tracees it calls Idle instead.
package tracingthread
