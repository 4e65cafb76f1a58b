// Package variable holds the top-level variables of a script that programs may share. Until a program that uses one is
// registered it is an ordinary variable; from then on its value is an object of the arena.
//
// # One variable
//
// Package scope rewrites each use of such a variable to %vars[n], and ++ and += to %add(n, …). Variables is that array:
// Get and Set read and write the value, or the object. When package fold meets the variable in a program, Bind makes
// the object, or takes over the one of an earlier version of a watched script. Keep gives the other variables the
// values they had in that version.
//
// # Threads
//
// Everything belongs to the goroutine that owns the JavaScript machine. += and ++ are atomic: programs change the
// objects at any time.
package variable
