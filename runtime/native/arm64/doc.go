// Package arm64 makes machine code for 64-bit ARM of plans (package native): the code that runs at a place in the
// traced process without a stop.
//
// # What runs natively
//
// Integers, jumps, registers and arguments, shared variables and arrays of integers, aggregations, maps and
// aggregations with keys of integers and texts; the thread's number and its variables, the time; records of numbers and
// texts; calls from their entry to their return, with their storage; reads of numbers and texts in memory, texts in
// calls and in maps, and operations on them (text.go); floats (float.go). All else rings a doorbell.
//
// # A stub
//
//	save x16 and x17
//	test the control word             0: on to the end
//	make room on the stack, save the registers that programs change, and the condition flags if they change
//	for each program
//	  predicate                       rejected: on to the next program
//	  gate                            not admitted: on to the next program
//	  program                         of a call: its frame is pushed before, or found before and popped behind
//	restore flags and registers
//	end: restore x16 and x17
//	tail                              the displaced instruction and the branch back
//	what seldom runs                  doorbells, and ways round
//
// It calls nothing, uses vector registers only for programs with floats, and no memory but the arena, the control word,
// what it pushes, and what programs read (read.go). Linux has no red zone on this architecture, so all memory below the
// stack pointer is free, and signal handlers stay below what the stub has pushed.
//
// What it does in the arena are single atomic operations: those of the interpreter. Any number of threads may be in it,
// and a signal handler may run the same stub in the middle of it. Where the processor has no atomic additions
// (FEAT_LSE), a loop of exclusive accesses adds. All such loops are short, contain no other access, and no breakpoint
// is ever in them.
//
// # Keys
//
// A cell of one word lies behind the state of its slot, and both are replaced by one pair of exclusive accesses, of 16
// bytes, if the state is still the one with which the key was compared: then no slot is pinned (package arena,
// table.go). There is no other way that all processors have: casp needs FEAT_LSE. Reads are plain, and look at the
// state once more. New keys of such cells are inserted (insert.go). Other cells, and deletions, pin the slot. A thread
// that leaves the stub for good meanwhile, by siglongjmp out of a handler that has interrupted it, leaves a pin behind,
// or a slot that is being filled: the slot then stays as it is.
//
// # Doorbells
//
// A doorbell is brk #0, as a breakpoint is, behind the tail. The words of the program are in their homes there, and the
// registers that the thread had at the place are on the stack, so native.Bell has all that the interpreter needs. The
// thread continues at the next program, or at the gate if the predicate let the hit pass. If nobody answers, the crash
// handler has made it a nop, and the branch behind it leads to the end. While a key is built, what is computed gets
// words of its own; the doorbell of a key that is not there stands before the first part, and finds all words as they
// were.
//
// # Threads, time and records
//
// A thread is known by the address of its own data, which tpidr_el0 has: with it the thread finds its block in the
// arena (package calls). No memory of the thread is read for that. A thread that is not in the table rings. The time is
// calculated from the virtual counter (package clock); an isb in front of its reading keeps the times of a thread in
// their order. Records are written into the ring with the order that other processors must see: the first word last, by
// a store with release, and a barrier before the reader's word is looked at.
//
// # Calls
//
// The code is that of amd64 (call.go there), but that one instruction cannot change memory. So the state of the stack
// of calls, and the mark of a busy frame, are replaced by pairs of exclusive accesses. A signal clears the monitor, so
// a pair that a handler has interrupted is tried again.
//
// # Reads
//
// What may be read is in a table (package ranges), and a read that faults rings its doorbell, as on x86-64. The fault
// belongs to the load: nothing that the program has was changed before it. On a processor with memory tags all reads
// ring, because a load by a pointer without the tag may raise a signal later, where nobody can tell that it is not the
// program's.
//
// # Registers
//
// Each word of the operand stack and each scratch word has a fixed home: one of the registers from x9 on for the first
// few, then a slot of the frame. An operation loads its operands into registers, unless they are there, and stores its
// result. x14 to x17 are for what lies in between. Which registers have to be saved, and whether the flags, is known
// when the code has been made once, so Emit makes it twice.
package arm64
