// Package registry knows which probes a session has, whatever way it traces: what was asked for (Spec), what has come of it
// (Probe), and what was compiled for which place (Placement). It knows nothing of processes, breakpoints or stubs.
//
// # A probe, from start to end
//
// A front end describes a probe by a Spec. New makes a Probe of it; Place compiles its programs for one place of a file, once, with
// an Info that answers what compiling wants to know. List.Add gives the probe its number and its rank; the back end arms the
// placements where the file is mapped. At a hit it asks Admit, which counts, and lets pass what After, Every and Rate leave out;
// with the last hit that Limit allows the probe disables itself, of which Admit tells, so that the back end takes its breakpoints
// away. Query shows State.
//
// # Order
//
// Placements at one address run as their probes' Order says, and then as they were declared (Insert); two that cannot both be there exclude
// each other (Excludes).
//
// # Concurrency
//
// Counters and state of a Probe, and a List, belong to one goroutine at a time: the tracing thread, or whoever holds the session's
// lock. Place has a lock of its own, held while a place is compiled, so that it may be called from any goroutine. Placements are
// immutable.
package registry
