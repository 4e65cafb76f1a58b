// Package fold turns function values of a script into plain data that can be compiled without the JavaScript machine:
// the syntax tree of the literal, and the meaning of each free name.
//
// # One function
//
// Rewritten code calls Register for every function literal that may become a program. Folding.Function traces a
// function value back to its literal and reads what it captured: constants become constants, variables that programs
// share and aggregations become numbers of arena objects, functions and plain objects are folded in turn. A name that
// cannot be used in a program gets the reason, which the compiler reports only if the program uses the name.
//
// # Threads
//
// Folding runs on the goroutine that owns the JavaScript machine. Its results do not change afterwards and refer to
// nothing of the machine, so any goroutine may compile them.
package fold
