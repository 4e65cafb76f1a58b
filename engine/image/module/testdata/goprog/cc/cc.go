// Package cc makes the program need an external linker.
package cc

// int twice(int x) { return 2 * x; }
import "C"

func Twice(x int) int { return int(C.twice(C.int(x))) }
