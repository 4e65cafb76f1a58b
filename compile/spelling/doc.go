// Package spelling measures how far an unknown name is from a known one. Every list of names of a script (options,
// built-ins, commands, symbols of the target, fields of a type) has its own idea of what is near enough to be
// suggested; what a slip is they have in common.
//
// A slip is a letter inserted, dropped or replaced, or two neighbours swapped, which is the commonest of all. Counting
// them is the optimal string alignment distance: Levenshtein's (Soviet Physics Doklady 10, 1966) with Damerau's
// transpositions (Communications of the ACM 7, 1964), where no letter is touched twice.
//
// Everything is a function of its arguments and may be called from any goroutine.
package spelling
