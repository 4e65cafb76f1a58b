// Package arm64 makes machine code for 64-bit ARM of plans (package native): the code that runs at a place in the traced process without a
// stop.
//
// # What runs natively
//
// Programs that count, calculate with integers, jump, read registers and arguments, use shared variables of integers, and add to aggregations
// without keys. There are no doorbells yet: a program that would need one on some way is refused as a whole (Fits), and its place keeps
// its breakpoint.
//
// # A stub
//
//	save x16 and x17
//	test the control word             0: on to the end
//	make room on the stack, save the registers that programs change, and the condition flags if they change
//	for each program
//	  predicate                       rejected: on to the next program
//	  gate                            not admitted: on to the next program
//	  program
//	restore flags and registers
//	end: restore x16 and x17
//	tail                              the displaced instruction and the branch back
//
// It calls nothing, uses no vector registers, and no memory but the arena, the control word and what it pushes. Linux has no red zone on this
// architecture, so all memory below the stack pointer is free, and signal handlers stay below what the stub has pushed.
//
// What it does in the arena are single atomic operations: those of the interpreter. Any number of threads may be in it, and a signal handler
// may run the same stub in the middle of it. Where the processor has no atomic additions (FEAT_LSE), a loop of exclusive accesses adds; it is
// short, contains no other access, and no breakpoint is ever in it.
//
// # Registers
//
// Each word of the operand stack and each scratch word has a fixed home: one of the registers from x9 on for the first few, then a
// slot of the frame. An operation loads its operands into registers, unless they are there, and stores its result. x14 to x17 are
// for what lies in between. Which registers have to be saved, and whether the flags, is known when the code has been made once, so Emit
// makes it twice.
package arm64
