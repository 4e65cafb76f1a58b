// Package compile is the middle layer of gotap: programs of verified, bounded RPN bytecode, independent of the source
// language and of the executor.
//
// The path of one program: A front end (compile/js, compile/dpdf, Assemble) writes it with a Builder, command by
// command, against the opcode Table; every command keeps the span of its source. Optimize may shorten it. Verify proves
// that it keeps to the rules below and computes its Bound. Lower binds it to an arena and to the registers of an
// architecture; the result can run in any number of threads. List shows a program, and Assemble makes the same program
// from a listing. MarshalBinary and UnmarshalBinary do the same for files. A program from a file or a listing is
// verified like any other: an unverified program is never lowered.
//
// # How the verifier works
//
// First every command is checked by itself: it must exist, be allowed, and have an operand in range. Then the program
// is cut into blocks. Each block is run on what is known at its start, until nothing changes any more. The state holds
// the depth of the stack; for each word whether it is a number (with its bounds) or text (with its maximum length); the
// assigned scratch words; and the progress of a log item and a key. Where two paths meet, they must agree on everything
// that has a shape, and the rest is joined. Bounds that keep moving are widened, so that this ends soon. A routine is
// analysed once for all its callers, with what holds for all of them, counted from the top of the stack.
//
// Steps are counted along the longest path. A loop counts as often as its header can be entered. There are two proofs
// for that. Either every round passes one loop command whose counter is at least 1 at the start and is changed by
// nothing else. Or every round moves one scratch word in one direction, by constants, and passes a test that leaves the
// loop when the word is beyond a limit. The verifier does not rely on a front end for this. It recognises
// "for (let i = 0; i < 10; i++)" by the effects of its commands. A loop without proof is not an error. The program is
// then charged for each step and ended by its fuel; so is a program whose bound is above its fuel.
//
// Exceptions add paths that no command shows: see handler.go for what is known at a handler, and why the bound still
// holds.
//
// Time and memory are proportional to the program: about 3 ms for each thousand commands.
//
// # Concurrency
//
// This package has no state between calls. A Builder belongs to one goroutine; a verified Program is immutable and may
// be shared.
//
// The commands are listed in commands.md, which a test keeps equal to the Table. Its second part lists every command of
// DProbes as supported, with the differences, or as refused, with the reason.
package compile
