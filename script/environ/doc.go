// Package environ answers what a script asks of the world: files, links, folders and variables of the machine that
// gotap runs on, the clock, random numbers, and the memory of processes.
//
// # One question
//
// Each built-in function asks through package journal, so that a recording holds the answers and gives them again when
// it is played. Nothing here blocks: a file that is not a regular one (a pipe, a terminal) is not opened. A missing or
// unreadable file is undefined, since a process may end between two calls.
//
// # Threads
//
// Everything belongs to the goroutine that owns the JavaScript machine.
package environ
