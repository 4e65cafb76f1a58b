// Package retprobe follows calls of functions from their entry to their return, for probes with a leave handler, without touching the target's
// stack. How a breakpoint is planted, and how registers and memory are read, is the back end's business: it is asked through Breakpoint
// and Target.
//
// # A call, from entry to return
//
// A back end embeds a Point in each of its probe points. Watch makes the point at the entry of a function watch its calls: it puts
// points on the function's exits. When the entry is hit, Thread.Hit runs the programs of the placements there, and package hit has
// Push remember the call for each that has a leave handler: a frame. A call is known by its stack pointer at entry, the address of
// the return address: no two calls that are under way in one address space have the same. When an exit is hit, the frames are found
// whose stack pointer is the present one, and their leave handlers run.
//
// Where the exits cannot all be found by decoding the function, because of an indirect jump or bytes that do not decode, and for
// calls that end in a jump to another function, a breakpoint is put on the return address itself while the call lasts: an
// instruction of the caller, hit right after the return, when the stack pointer is just above the frame's. Neither method writes to
// the target's stack, so unwinders, exceptions, longjmp, and Go's moving stacks see what they expect; the classic trampoline, which
// replaces the return address, has none of this and is not used.
//
// # Calls that do not return
//
// Frames that were left otherwise, by longjmp or an exception or the end of a coroutine, stay behind. They are dropped when a new
// call has their stack pointer, when a call below which they lie returns, or when room is needed. In a kernel the stacks belong to
// tasks, which move between processors: there is one List for all of them, and stacks are told apart by their addresses
// (List.Stacks), so that what lies below a new call on its own stack is known to be dead.
//
// # Probes that go
//
// When a script is exchanged while it runs, calls are under way whose entries the old programs have seen. They end as they began:
// Keep makes their leaves due, the exits of their functions stay watched for their sake, and the old program has its leave. So no
// call is counted by its entry and missed at its end, whichever of the two the exchange comes between. Pending is the same for
// system calls.
//
// # Cost and concurrency
//
// A hit allocates nothing once the lists are as long as the deepest recursion. Everything here belongs to one goroutine at a time,
// the tracing thread or whoever holds the session's lock.
package retprobe
