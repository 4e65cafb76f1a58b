// Package lower turns the syntax tree of a handler into a typed tree, and checks it on the way.
//
// One handler from start to end: LowerHandler binds the parameters (binder), then reads the statements in order
// (statements). An expression becomes an operand; Value turns an operand into a tree. A call of a plain function is
// copied in place (functions): its arguments are bound to its parameters, its body is read as a block, its returns
// become jumps to the end. What has no place in a program is refused with a hint (refuse.go). After an error reading
// goes on with poisoned values.
//
// The syntax tree is read by recursion, as goja's parser does. Nesting is limited (maxNesting), and so is the number of
// nodes (maxNodes), since functions that call functions can grow without bound.
//
// The parts of one handler refer to one another: lowering reads expressions, statements collects statements, binder
// holds the names, functions the bodies being copied. All belong to one goroutine; the syntax tree is only read,
// because other units may share it.
package lower
