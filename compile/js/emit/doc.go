// Package emit writes a checked tree as commands of a compile.Builder.
//
// One handler from start to end: Program reserves the scratch words, writes the statements in order, sets the limits of
// the program and takes it from the Builder. The emitter follows the depth of the stack and whether control can reach
// the command: unreachable code is not written. Where the right side of an operation is long and the left is simple,
// the right goes first, so that the stack stays flat. A condition becomes jumps, not a value. The tree has been
// checked: only limits of the machine (stack, scratch words, length) are reported.
//
// An emitter belongs to one goroutine.
package emit
