// Package registry holds the probes of a session, for every kind of tracing: what was asked for (Spec), what has
// come of it (Probe), and what was compiled for which place (Placement). It does not depend on processes,
// breakpoints or stubs.
//
// # A probe, from start to end
//
// A front end describes a probe by a Spec. New makes a Probe from it; Place compiles its programs for one place of
// a file, once, with an Info that answers the compiler's questions. List.Add gives the probe its rank in the order
// of declaration; the back end arms the placements where the file is mapped. At a hit the back end calls Admit,
// which counts the hit and rejects what After, Every and Rate exclude. With the last hit that Limit allows, the
// probe disables itself; Admit reports this, so that the back end removes the probe's breakpoints. A query shows
// State.
//
// # Order
//
// Placements at one address run in the order that their probes' Order requests, and then in the order of
// declaration (Insert); two that cannot both be there exclude each other (Excludes).
//
// # Concurrency
//
// The counters and state of a Probe, and a List, belong to one goroutine at a time: the tracing thread, or the
// goroutine that holds the session's lock. Place has its own lock, held while a place is compiled, so any goroutine
// may call it. Placements are immutable.
package registry
