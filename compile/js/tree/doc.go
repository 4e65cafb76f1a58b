// Package tree is the typed tree between the syntax tree of a script and the commands of a program.
//
// An Expr has a Kind (its type), a Code (what it does), arguments, and what follows from them: its effects and how much
// stack it needs. Constructors (Constant, Apply, Store, Sequence, …) work those out, and an argument of KindBad makes
// the whole KindBad. Fold replaces an operation on constants by its value, as the machine would compute it. Whole
// computes a float in integers where no fraction is possible. A Stmt is a statement; Labels are what jumps go to. A
// Slot is a scratch word, and Slots hands them out.
//
// One expression, `c.arg0 + 1`, from start to end: operator.Operators calls Apply with the trees of both sides, Fold
// leaves it as it is, a statement made by Eval holds it, and emit writes its arguments and then its command.
//
// A tree belongs to the goroutine that builds it; nothing here is shared.
package tree
