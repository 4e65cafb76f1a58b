// Package goabi knows what Go's compiler does that other compilers do not: how arguments travel in registers of its own
// choice, and how a function makes sure of its stack before it begins.
//
// Nearly every Go function starts with a check whether the goroutine's stack has room for its frame. If not, the
// function calls runtime.morestack, which moves the goroutine to a larger stack and then runs the function again from
// its first instruction. The goroutine that is told to yield gets there too: the runtime sets its stack limit so that
// the check fails. A breakpoint on the first instruction is therefore hit twice for one call, or more often. The
// instruction behind the check is run once for each call, and there registers and stack pointer still are as the caller
// left them: EntryAfterCheck finds it.
//
// Everything here is pure: functions over code and register names, safe for concurrent use.
package goabi
