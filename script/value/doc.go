// Package value gives JavaScript the values that programs record: integers, floats, text, bytes, and stacks of return
// addresses, whose frames are named when a script asks for them.
//
// # One stack
//
// A record holds the addresses. Values.Value makes an object of them; its text, its frames and its length call
// Symbolizer.Stack, once, through package journal, so that a played recording gives the names of the recorded run.
//
// # Threads
//
// A Values belongs to the goroutine that owns the JavaScript machine. StackLines is safe for concurrent use.
package value
