// Package scope resolves every name of a script, and rewrites the tree that is run so that the host can see what
// JavaScript hides: the function literal of a function value, its captured variables, and every use of a shared
// variable.
//
// Analyze walks a tree once and collects scopes, variables, functions, calls and references. It resolves names after
// the walk, when all declarations are known. Rewrite then changes the tree in place:
//
//	c => { … }                     %reg(ID, c => { … }, i => i === 0 ? limit : …)      a function that may become a program
//	let total = 0 (top level)      %vars[3] = 0                                        when such a function uses it
//	total, total = 1               %vars[3], %vars[3] = 1
//	total++, total += n            %add(3, 1, true), %add(3, n, false)                 so that they can be atomic
//	x ** n, x << n                 %power(x, n), x << %shift(n)                       so that a BigInt stays of a size that is soon computed
//
// Scripts cannot contain the names with %. Positions stay those of the original nodes. Both copies of a file are
// analyzed. Functions are numbered in order of appearance, so the n-th function of one copy is the n-th of the other.
package scope
