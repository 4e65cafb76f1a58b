// Package ptrace is a thin layer over the kernel's process tracing: one function for each request that package engine
// makes, with plain values. It has no state outside its types.
//
// Threads. The kernel accepts requests about a tracee only from the very thread that seized it. All functions that take
// a tid of a tracee must therefore be called on that one thread (a goroutine under runtime.LockOSThread), except
// Memory's methods, Kick and Alarm's, which any thread may use.
//
// System calls. A request about a stopped tracee never blocks, so it is a raw system call: the Go scheduler is not
// notified, and a probe hit does not hand the processor to another thread. Only Wait and PeekStop may block;
// they notify the scheduler, because a raw call that blocks would delay the garbage collector. A BriefWait accepts that.
//
// Words and constants are those of ptrace(2), wait(2) and the kernel's uapi headers; the numbers are the kernel's
// stable interface. Everything but the calls themselves compiles on any host. Files that end in _linux.go contain the
// calls, and those named for a processor contain its differences.
package ptrace
