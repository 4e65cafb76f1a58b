// Package operator gives the operators of the language their meaning on typed trees.
//
// Arithmetic, Compare, Choose, Not and their like take trees, check their types, convert where JavaScript would, fold
// constants, and return a tree; after an error they return a poisoned one. They also warn where 64-bit integers do
// something that JavaScript's numbers would not: `a / b` cuts the fraction off, `x | 0` changes nothing.
//
// One operation, `a + b`, from start to end: text on either side makes it a concatenation; otherwise both have to be
// numbers; a float on one side makes a float of the other; constants are folded.
//
// Operators belong to one handler: they hold its scratch words.
package operator
