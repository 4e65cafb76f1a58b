// Package jit names code that a program generates while it runs, by what the program writes of it: a map of symbols, as
// node --perf-basic-prof, Java's agents and Python's -X perf write it for perf, and a dump of the code, as node
// --perf-prof writes it.
//
// # Where the files are
//
// The map is /tmp/perf-N.map in the mount namespace of the process, N being its number in its own namespace. The dump
// can be anywhere: the program maps the file jit-N.dump with permission to execute, so that others find it among the
// mappings.
//
// Anybody could put a file there. A file counts only if it is a regular file, no link, and belongs to root or to the
// user of the process.
//
// # From an address to a name
//
// Process.Look opens the files while the process exists, and costs little when there are none: it waits longer from one
// time to the next. Process.Name reads what has been written since the last time, and looks the address up. Both files
// only grow, so addresses are named after the process has ended as well. Where entries overlap, what was written later
// is taken: generated code moves and its memory is used again. A stack that was taken before such a change can
// therefore have a name that is too new, as in perf.
//
// What the files say is bounded and never trusted: see the constants in table.go. A line or a record that makes no
// sense is left out.
//
// # Threads
//
// All methods may be called from any goroutine. The lock of a Process is held while its files are read.
package jit
