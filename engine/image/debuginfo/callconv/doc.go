// Package callconv determines where the arguments and results of functions are by their calling conventions. At the
// entry of a function the location expressions of unoptimised code are not valid yet, and results have no locations at
// all.
//
// One operation from start to end: Param(fn, params, 2). clone.go refuses functions that an optimiser changed,
// passing.go refuses types that the debug information describes incompletely or that compilers pass differently. The
// types of the parameters up to the wanted one are then assigned to registers and stack in their order, by the
// convention of the language and the machine: amd64, i386, arm64 and arm implement the interface convention for C;
// golang and rust have rules of their own, and rust passes parts of values as C passes them. The answer is a
// location.Place.
//
// To add a machine, implement convention and add it to New, and its registers to goConventions.
//
// Rules is not safe for concurrent use: it moves the entry.Reader.
//
// Called from: debuginfo. It imports entry, ctype, function and location.
package callconv
