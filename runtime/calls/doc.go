// Package calls holds the calls in progress of threads of other processes in the arena, so that native code follows
// calls from their entry to their return without a stop.
//
// # Blocks
//
// Each thread that native code knows has a block: its Stack, and behind it its share of what is counted (package
// arena). Owners leads to it from the base of fs. Package trampoline of the engine decides who is in that table. A
// block is 128 KiB of addresses; memory is used for the pages that are written. The block of a thread that has ended
// goes to another one, with the share as it is: the host adds up all shares there have been.
//
// # A call
//
// At the entry of a function, native code finds the Stack of its thread by the address of the thread's own data
// (Owners), and pushes a frame: stack pointer, function, time, and the storage of the call. At an exit it compares the
// newest frame with the stack pointer and the function, runs the leave handler on its storage, and pops the frame.
// Recursion needs nothing more, because each call has a stack pointer of its own.
//
// Native code pushes only where the newest frame is further out on the stack, or is a former call of the same function
// with the same stack pointer, which it replaces. At an exit it passes over frames that lie inside the call that ends:
// those calls were left by longjmp or an exception. Anything else is for the host: a stack that is not this one (a
// signal handler's, a coroutine's), a stack that is full, a thread without one. There native code rings a doorbell, and
// the host follows the call in its own list (package retprobe) or finds the frame further down (Stack.Newest, Older,
// Remove).
//
// # Signals
//
// A signal handler may interrupt native code anywhere and push frames of its own. It pops them before it returns. So an
// interrupted push must not rely on what it has written behind the newest frame: the state counts pushes, and an
// instruction that compares and replaces it fails if there were any; then the push is repeated. A handler that never
// returns (siglongjmp) leaves at most dead frames. While native code runs a program of a call its frame is marked as
// busy: the host, which may be asked by a handler's calls, leaves it where it is.
//
// # Threads
//
// A stack is written by its thread, and by the host only while that thread is stopped. A table of owners is written by
// the host alone. The host calls all functions from one goroutine.
//
// # Trust
//
// The traced process may write to all of this. Whatever is there, the host reads and writes only inside the stack, and
// its loops end because each frame starts before the one that was pushed after it. Native code reads at most `reach`
// bytes behind a stack, which are reserved, and takes its numbers of stacks modulo MaxThreads.
package calls
