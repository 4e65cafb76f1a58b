// Package retprobe follows function calls from entry to return, for probes with a leave handler, without touching
// the target's stack. How a breakpoint is planted, and how registers and memory are read, is up to the back end,
// which implements Breakpoint and Target.
//
// # A call, from entry to return
//
// A back end embeds a Point in each of its probe points. Point.Attach makes the point at the entry of a function
// watch its calls: it places points on the function's exits. When the entry is hit, Thread.Hit runs the programs of
// the placements there, and package hit calls Push for each placement with a leave handler, which records the call:
// a frame. A call is identified by its stack pointer at entry, which is the address of the return address: no two
// calls in progress in one address space have the same. When an exit is hit, the leave handlers of the frames with
// the present stack pointer run.
//
// Not all exits may be found by decoding the function, because of an indirect jump or bytes that do not decode, and
// some calls end in a jump to another function. For these, a breakpoint is placed on the return address itself
// while the call lasts: that instruction of the caller is hit right after the return, when the stack pointer is
// just above the frame's. Neither method writes to the target's stack, so unwinders, exceptions, longjmp, and Go's
// moving stacks see what they expect; the classic trampoline, which replaces the return address, offers none of
// this and is not used.
//
// # Calls that do not return
//
// Frames that were left by longjmp, an exception or the end of a coroutine stay in the list. They are dropped when
// a new call has their stack pointer, when a call above them on the stack returns, or when room is needed. In a
// kernel the stacks belong to tasks, which move between processors: one List serves all of them, and stacks are
// distinguished by their addresses (List.Stacks), so that frames below a new call on its own stack are known to be
// dead.
//
// A frame that waits at a return address stays if the new call returns there, too, because its function may have jumped
// to this one. So if the same instruction has made both calls, which it can do through a pointer, the dead one has a
// leave when the new one returns.
//
// # Probes that are removed
//
// When a script is exchanged while it runs, there are calls in progress whose entries the old programs have seen.
// They end as they began: Keep marks their leaves as due, the exits of their functions stay watched for them, and
// the old program gets its leave. So no call is counted at its entry and missed at its end because the exchange
// came in between. Pending does the same for system calls.
//
// # Cost and concurrency
//
// A hit allocates nothing once the lists are as long as the deepest recursion needs. Everything here belongs to one
// goroutine at a time: the tracing thread, or the goroutine that holds the session's lock.
package retprobe
