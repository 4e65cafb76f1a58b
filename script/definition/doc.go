// Package definition runs probe definition files (DPDF) in a session: it loads a file or what `gotap build` made of it,
// chooses the probes to run, declares its variables in the arena, and turns what its programs log into events. Packages
// dpdf and ppdf read the two formats; the session places the probes.
//
// # From a file to a line of output
//
// Load parses a text and returns a File with its probes, numbered from First on; Set holds the files of a session. A
// program's record is offered to the set by the probe's number: Set.Probe finds the probe, NewRecord separates its
// codes from what it logged, and Record prints as text, as an event or as the argument of a facility's callback.
//
// # Concurrency
//
// A Set and a Shared may be used by several goroutines. A File and its probes do not change once their session has
// them, but for the numbers that a new version takes over from the one before (Probe.ID), which happens before it is
// added to the set.
package definition
