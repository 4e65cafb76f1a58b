// Package script runs the JavaScript side of gotap: it loads a script, runs its top level, hands out the probes that it
// declares, and calls its callbacks with what the probes' programs record. No other package sees the JavaScript machine.
//
// # From text to probes
//
// Package load parses a file, package scope finds what its names mean and rewrites the tree so that every function literal that
// may become a program registers itself when it is evaluated, with a getter for what it captured. probe(…) keeps the function
// values it was given. When the top level has run, each of them is traced back to its syntax tree, and the free names of
// the tree are folded: constants become constants, shared variables and aggregations become numbers of arena objects,
// functions are folded in turn. The result is plain Go data, so that a probe can be compiled on any goroutine, for each
// place anew, without touching the JavaScript machine.
//
// Top-level variables of integer, boolean or text type that such functions use live in the arena from then on: the host reads
// and writes them through accessors, and += and ++ are atomic on both sides.
//
// # Goroutines
//
// The machine belongs to one goroutine at a time: the caller of Load, then, from Start to End, the host's own. That one waits for
// several things at once; a second one, the pump, waits for the ring, and rests while the host reads it, since a ring has one reader:
//
//	arena ring ──▶ pump ───────────────────▶ host: records in batches
//	Lifecycle, Join, Leave ──▶ bounded queue ──▶ host: listeners, guests
//	clock ──────────────────────────────────▶ host: timers
//
// One record: Deliver finds its probe, prints its lines, gives its event to the probe's callback under the watchdog, and releases the
// thread if it was held, whatever the callback did. After a batch the host looks at timers and the queue; when there is nothing
// more to do it flushes the output and wakes the pump.
//
// A slow callback only fills the ring, whose producers count what they drop; the host never queues records itself. Before each
// callback its deadline is noted; one watchdog goroutine interrupts what runs longer, or makes the heap grow too far. Script
// code cannot catch that. What cannot be interrupted (a long built-in) is reported through Options.Stuck.
//
// A guest is a further script whose machine runs on the same host (Join), so that one reader of the ring serves all. A watched script
// that was changed is exchanged for its new version without losing a record: see handover.go.
//
// # Locks
//
// watchdog.mu guards the clock of the running callback, Script.sharedMu the lists of objects that are read on any goroutine; both are
// leaves. Probe.mu guards compiled results and is held while package js compiles, which may take the arena's.
package script
