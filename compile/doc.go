// Package compile is the waist of gotap: programs of verified, bounded RPN bytecode, whatever language they were written in
// and whatever will run them.
//
// One program, from start to end. A front end (compile/js, compile/dpdf, Assemble) writes it with a Builder, command by
// command, against the opcode Table; every command keeps the span of the source it came from. Optimize may shorten it. Verify
// proves that it keeps to the rules below and works out its Bound. Lower binds it to an arena and to the registers of an
// architecture; what comes out is ready to run in any number of threads. List shows a program, and Assemble makes the same
// program of a listing; MarshalBinary and UnmarshalBinary do so for files. A program from a file or a listing is verified as
// any other: nothing unverified is ever lowered.
//
// # How the verifier works
//
// First every command is looked at by itself: does it exist, is it allowed, is its operand in range. Then the program is cut
// into blocks, and each block is run on what is known at its start, until nothing new comes out: how deep the stack
// is, for each word whether it is a number (within which bounds) or text (how long at most), which scratch words are
// assigned, how far a log item and a key have come. Where two ways meet, they must agree on all that has a shape, and the
// rest is joined. Bounds that keep moving are let go, so that this ends soon. A routine is looked at once for all its
// callers: with what they agree on, counted from the top of the stack.
//
// Steps are counted along the longest way. A loop counts as often as its header can be entered, for which there are two
// proofs. Either every round comes by one loop command whose counter is at least 1 at the start and is changed by nothing
// else; or every round moves one scratch word in one direction, by constants, and comes by a test that leaves the loop when
// the word is beyond a limit. Neither is taken on trust from a front end: "for (let i = 0; i < 10; i++)" is recognised by
// what its commands do. A loop without proof is not an error. The program is then charged for each step, and ended by its
// fuel; so is one whose bound is above its fuel.
//
// Exceptions add ways that no command shows: see handler.go for what is known at a handler, and why the bound holds with it.
//
// Time and memory are proportional to the program: about 3 ms for each thousand commands.
//
// # Concurrency
//
// Nothing here has state between calls. A Builder belongs to one goroutine; a verified Program is immutable and may be shared.
//
// The commands are listed in commands.md, which a test keeps equal to the Table. Its second part has every command of DProbes,
// with what became of it: done, and how it differs, or refused, and why.
package compile
