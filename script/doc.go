// Package script runs the JavaScript side of gotap: it loads a script, runs its top level, gives out the probes that it
// declares, and calls its callbacks with what the probes' programs record. No package outside of this folder sees the
// JavaScript machine.
//
// A Script joins its parts, each a package below; imports go one way, from the first line to the last:
//
//	load, scope, source     text: parse, find what names mean, rewrite, name places
//	watchdog, jsvm, limits  the JavaScript machine: deadlines, diagnostics, values, limits of its built-in functions
//	journal                 the boundary to what is outside of a script, for recordings
//	host                    the goroutine that owns the machine while a run lasts
//	shared, value, event    objects of the arena, values of programs, records as objects
//	aggregate, recorder     aggregations, maps and flight recorders as the script sees them
//	variable, fold, probe   shared variables, functions as plain data, probes and their compiled programs
//	timer, listen, module, option, console, environ, expect   the other built-in functions
//
// # From text to probes
//
// Package load parses a file. Package scope finds what its names mean and rewrites the tree, so that every function
// literal that may become a program registers itself when it is evaluated, with a getter for what it captured. probe(…)
// keeps the function values it was given. When the top level has run, package fold traces each of them back to its
// syntax tree and folds the free names of the tree: constants become constants, shared variables and aggregations
// become numbers of arena objects, functions are folded in turn. The result is plain Go data, so that a probe can be
// compiled on any goroutine, again for each place, without the JavaScript machine.
//
// Top-level variables of integer, boolean or text type that such functions use live in the arena from then on: the host
// reads and writes them through accessors, and += and ++ are atomic on both sides.
//
// # Goroutines
//
// The machine belongs to one goroutine at a time: the caller of Load, then, from Start to End, the host's own (see
// package host).
//
// One record: Deliver finds its probe, prints its lines, calls the probe's callback with its event under the watchdog,
// and releases the thread if it was held, whatever the callback did. A callback that runs too long, or makes the heap
// grow too far, is interrupted, and script code cannot catch that. A callback that cannot be interrupted (in a long
// built-in function) is reported through Options.Stuck.
//
// A guest is a further script whose machine runs on the same host (Join), so that one reader of the ring serves all. A
// watched script that has changed is exchanged for its new version without losing a record: see handover.go.
//
// # What may be called from where
//
// Methods say when they are safe for concurrent use; all others belong to the goroutine that owns the machine. Locks
// are leaves: watchdog.mu guards the clock of the running callback, shared.Table.mu and recorder.Recorders.mu guard
// lists that are read on any goroutine. Probe.mu guards compiled results and is held while package js compiles, which
// may take the arena's lock.
package script
