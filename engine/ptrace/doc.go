// Package ptrace is the thin layer over the kernel's process tracing: one function for each request that package engine
// makes, in terms of plain values, and nothing else. It holds no state but what its types say.
//
// Threads. The kernel accepts requests about a tracee only from the very thread that seized it. All functions that take
// a tid of a tracee must therefore be called on that one thread (a goroutine under runtime.LockOSThread), except Memory's
// methods and Kick, which any thread may use.
//
// System calls. A request about a stopped tracee never blocks, so it is made raw: the Go scheduler is not told, and a
// probe hit costs no hand-off of the processor to another thread. Only Wait may block; it tells the scheduler,
// because a raw call that blocks would hold up the garbage collector.
//
// Words and constants are those of ptrace(2), wait(2) and the kernel's uapi headers; the numbers are the kernel's stable interface.
// Everything but the calls themselves compiles on any host; the files that end in _linux.go hold the calls, and those named for a
// processor what is different there.
package ptrace
