// Package trampoline is the executor that runs programs in the target, without a stop: a jump at a place leads to
// native code, the trampoline, which runs the programs and the instructions that the jump replaces, and returns behind
// them.
//
// # Threads
//
// Everything belongs to the session's tracing thread, but for AwaitStale. Threads of the target run native code at any
// time; they and the session share the arena, whose pages say how.
//
// # One place, from start to end
//
// Fits examines a place: its programs are planned (package runtime/native), and the instructions are looked at that a
// jump replaces (package inline). Install plants a breakpoint. The first hit of one in an address space promotes all
// that wait there (promote.go; Thread.Promote): the thread that hit makes the process map memory; native code is
// written for each place (packages runtime/native/amd64 and arm64) into that memory; the threads that run code are
// held, and the breakpoints become jumps. With Config.Engine Mixed each place waits until it has been hit often
// (mixed.go). From then on hits of these places are not seen here: the thread runs the programs itself, which change
// the arena with the atomic operations that the interpreter uses. When the owners of a place change, it gets its
// breakpoint back (Replace), and a new jump at its next hit. At the end Remove and Verify restore the code, and
// UnmapIslands gives the memory back.
//
// At an operation that native code does not execute, the thread stops at a doorbell (doorbell.go; Thread.AnswersBell).
// The interpreter gets the registers that the thread had at the place and the words of the program, runs the rest, and
// sets only the program counter: the native code restores the registers. If the program may change the target, the
// thread continues at the displaced instructions instead, with the registers as they are then (change.go). A displaced
// instruction that faults is moved to its own address, and the place gets its breakpoint back for good (stubfault.go).
// A read of a program that faults rings its doorbell (reads.go, readfault.go). Calls are followed from their entry to
// their return in stacks in the arena, and taken over by package retprobe when a thread stops where one begins or ends
// (calls.go). Threads that have such a stack count in memory of their own, too; owners.go says which those are, and why
// no count is lost.
//
// Where a jump does not fit, or another probe is among the bytes that it would replace, a short one may, which leads to a
// springboard (springboard.go).
//
// Native code for 64-bit ARM does not count in memory of its thread: machine.go has what differs.
//
// What belongs to an address space is in Space.Native (codeIn), what belongs to a place in Point.Jump. A forked child
// gets copies of both, with breakpoints in place of the jumps, because the code contains the number of the process.
//
// # What may be called from where
//
// Methods of Thread need the thread in a stop whose registers have been read, but for Drop. Promote and TakeCalls
// belong to a hit; AnswersBell and BackToJump to a SIGTRAP; AnswersRead and LeaveStub to another signal; LeaveRead and
// UnmapIslands to the end of the session; Born, Bears and Fork to the stops that report new threads. RunOut handles
// stops itself, and may only be called between two. Host's methods are called from all of these.
package trampoline
