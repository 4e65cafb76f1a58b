// Package amd64 makes x86-64 machine code of plans (package native): the code that runs at a place in the traced
// process without a stop.
//
// # A stub
//
// Emit makes a stub for one place and all its programs. A jump leads to it from the place. It consists of
//
//	step over the red zone, save the flags   if Site asks for it
//	test the control word                    0: on to the tail
//	for each program
//	  predicate                              rejected: on to the next program
//	  gate                                   not admitted: on to the next program
//	  program
//	restore the flags and the stack pointer
//	tail                                     the displaced instructions and the jump back
//	what seldom runs                         rejections, doorbells, and ways round
//
// It calls nothing, uses vector registers only for programs with floats (float.go), and no memory but the arena, the
// control word, what it pushes, what programs read (read.go), and of the thread's own data the first word and errno.
// All that it does in the arena are single operations: atomic ones, those of the interpreter, and swaps of a slot's
// state together with its cell (paired.go), which need no pin; and plain additions to memory of the thread's own
// (share.go, keyshare.go). So any number of threads may be in it, and a signal handler may run the same stub in the
// middle of it, or leave it for good. Only the insertion of a key (insert.go) takes several operations: a thread that
// leaves the stub in its middle for good costs other uses of that key one update each, as package arena says.
//
// # Registers
//
// Predicates and programs are parts. Each saves the registers that it writes, and no others, so a part that only counts
// saves none. Which ones these are is known when the code has been made; Emit repeats it until a pass writes only what
// it has saved.
//
// While code is made, the operand stack holds descriptions of words (stack.go). Results are computed in registers, one
// for each place of the stack. Constants and registers of the target become operands of the instructions that use them,
// so "arg0 > 100" is a comparison and a jump. Where ways through the program join, every word is in the register of its
// place, its home.
//
// # A doorbell, from start to end
//
// A thread reaches an operation that native code does not execute, say one that asks for the calls in progress. It
// jumps behind the tail, onto an int3. The kernel stops it. The tracer finds the native.Bell by the offset of the int3,
// reads the registers and native.Bell.FrameWords words of the stack, and calls
//
//	State    for the program's words: what Machine.Resume continues from
//	Restore  for the registers that the thread had at the place: what Context.Regs must hold
//
// Registers that the stub has written lie on the stack where native.Bell.Saved says; all others are untouched, and
// vector registers are restored before the int3. When the program has ended, the tracer sets only the program counter,
// to Resume or Pass, and lets the thread continue. The code there restores what was saved. If the program may change the
// target (native.Changes), the tracer sets all registers, and the thread continues at Stub.Tail.
//
// If the tracer dies, the kernel clears the owner in the control word, and stubs run only their tails. A thread that
// finds an int3 nevertheless continues behind it once a handler has made it a nop, and gets to the tail.
//
// # One noun
//
// The package is longer than others, because all of it is the code of one part: every file adds operations to the same
// state, which says where the words of the program are, what a doorbell has to know of them, and which registers are
// saved. What needs none of that has packages of its own: the assembler, quotients by constants, spans of bytes.
package amd64
