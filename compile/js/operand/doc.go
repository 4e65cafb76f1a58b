// Package operand is what names and expressions stand for before their value is needed.
//
// Many names of the language have no value of their own (the context, a map, a function), yet can be passed to
// functions, renamed and have members: those are Operands, too. An Assignable is an Operand with a value that can be
// assigned to. Symbols are names that the text declares, in Scopes.
//
// One use, `n += 1` with a shared n, from start to end: lower finds that n is bound to a Shared; StoresTo checks that
// the right side does not change it as well; Shared.Add gives one atomic command in place of Get, an addition and Set.
//
// Operands belong to the handler that is being compiled.
package operand
