// Package backend is the contract between a session and what traces for it: native tracing by ptrace (package engine)
// and remote stubs (package remote). It holds plain values only: how a session works (Config), what happens to its
// targets (Event), what it counts (Stats), and what it does when tracing takes too much time (Overload).
//
// # Threads
//
// Values of this package are immutable once a session has them. The callbacks of Config run where the back end traces:
// on its tracing thread, or with its lock held. They must not block and must not call the session.
//
// # One operation, from start to end
//
// The command line fills in a Config and opens a back end with it. The back end calls Notify for each Event. While
// probes are placed it asks Config.Interrupted for each place, so that closing Quit ends the work within one place.
//
// # What may be called from where
//
// Interrupted and Boundaries may be called from any goroutine.
package backend
