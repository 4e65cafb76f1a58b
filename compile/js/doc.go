// Package js compiles JavaScript functions to programs of the machine.
//
// The language is what a tracing program needs of JavaScript: 64-bit integers, floats, bounded text, control flow, and the state that
// programs share with callbacks. Whatever else JavaScript has is refused with a message that says what to do instead.
//
// # From a function to a program
//
// Compile takes the handlers of one probe, because they share the storage of a call (`this`). For each:
//
//  1. lowering reads the syntax tree (goja's) once, in the order of the text. Names are resolved (scope.go): locals, then what the
//     script has, then builtins. An expression denotes an operand (operand.go), which need not have a value: the context, a map and a
//     function can be passed on, renamed and have members. Values become typed trees (tree.go), constants are folded, and
//     everything is checked on the way.
//  2. emitter writes the tree as commands of a compile.Builder (emit.go, emitexpr.go). It cannot fail, but for limits of the machine.
//
// Types are not declared. A variable has the type of what is first assigned to it, in the order of the text, and keeps it. Where a
// type is needed before the text that decides it (a field of `this` read above its assignment, a map read before text is
// stored in it), an integer is assumed; if that proves wrong the fact is noted and the unit is compiled again with it.
//
// # What debug information knows
//
// c.args, c.ret and global(NAME) begin paths (operand arguments). A path is resolved by the Place when its value is wanted, so a
// unit that uses one is compiled for each place again (Result.UsesPlace); without a place stand-ins take their part. An access says
// where a value starts and how to get on from there (access.go); static data of other modules, or behind the probed instruction,
// starts from a module's bias. What is made of others, a struct, an array, all arguments, is read part by part into one text
// (pretty.go), whose bounds are known when it is compiled.
//
// # Functions
//
// Functions are copied to where they are called, with their parameters as variables. So they may take the context or a map, and
// return early; they cannot recurse. A variable that is assigned once from a constant or an argument of the probed function is no
// variable at all: it stands for the command.
//
// # Errors
//
// An error poisons the value it is about, and what is made of a poisoned value is poisoned without a word. So all errors of a
// script are found at once and none twice, also when the function with the error is called from several places.
//
// # Depth
//
// The tree is read by recursion, as goja's parser does. Nesting is limited (maxNesting), and so is the number of nodes, since
// functions that call functions can grow without bound. The emitter computes a long right side first when the left is
// simple; what still does not fit runtime.MaxStack words is refused.
//
// A Unit is compiled on the caller's goroutine. Compile keeps no state between calls and may run on several goroutines
// at once, also for units that share Functions: the syntax tree is only read.
package js
