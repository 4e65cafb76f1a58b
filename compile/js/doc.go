// Package js states what is compiled when JavaScript functions become programs of the machine: the Unit with the
// handlers of one probe, the Function with its Scope of Bindings, the Place where the programs will run, and the
// Result.
//
// The language is what a tracing program needs of JavaScript: 64-bit integers, floats, bounded text, control flow, and
// the state that programs share with callbacks. Everything else is refused with a message that says what to do instead.
//
// # From a function to a program
//
// compiler.Compile takes the handlers of one probe together, because they share the storage of a call (`this`). For
// each:
//
//  1. lower reads the syntax tree (goja's) once, in the order of the text. It resolves names, turns each expression into an operand
//     (package operand) and, when its value is needed, into a typed tree (package tree). It checks types and folds constants while it
//     reads. It uses operator for operators, builtin for builtins and methods, fetch for what belongs to the place.
//  2. emit writes the tree as commands of a compile.Builder. It fails only at limits of the machine.
//
// What all handlers of a unit share during this is in state; every message goes through report.
//
// The packages import one another in one direction: tree, js, report, state, operator, fetch, operand, builtin, lower,
// emit, compiler.
//
// # Types
//
// Types are not declared. A variable has the type of what is first assigned to it, in the order of the text, and keeps
// it. Where a type is needed before the text that decides it (a field of `this` read above its assignment, a map read
// before text is stored in it), an integer is assumed; if that proves wrong, the fact is recorded and the unit is
// compiled again with it.
//
// # What debug information knows
//
// c.args, c.ret and global(NAME) begin paths (fetch.Path). The Place resolves a path when its value is needed, so a
// unit that uses one is compiled again for each place (Result.UsesPlace); without a place, integers stand in for the
// values.
//
// # Functions
//
// Functions are copied to where they are called, with their parameters as variables. So they may take the context or a
// map, and return early; they cannot recurse. A variable that is assigned once, from a constant or an argument of the
// probed function, is not a variable in the program: each use repeats the command.
//
// # Errors
//
// An error poisons the value it is about, and everything computed from a poisoned value is poisoned without a message.
// So all errors of a script are found at once and none twice, also when the function with the error is called from
// several places.
//
// # Concurrency
//
// A Unit is compiled on the caller's goroutine. No package keeps state between calls: Compile may run on several
// goroutines at once, also for units that share Functions, because the syntax tree is only read.
package js
