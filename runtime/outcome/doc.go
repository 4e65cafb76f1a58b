// Package outcome says how a run of a program ends: plainly, with an event or another exit (ExitKind), or early because
// it reached a limit (Trap). Outcome has the details.
//
// The machine returns an Outcome. The engine acts on it: it holds the thread, stops the process, removes the probe, and
// counts a Trap in the arena, by its place. The kind of exit is also in the header of the hit's record, for the host.
//
// All is plain data. A Trap is an error, so that callers may compare and wrap it. All executors use these numbers, and
// the arena stores them, so a number never changes its meaning.
package outcome
