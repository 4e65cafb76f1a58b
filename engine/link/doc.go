// Package link makes compiled programs ready to run at a place: it compiles a probe's source for the place, verifies
// the programs and lowers them to what the machine of package runtime executes. It is where packages compile and engine
// meet; neither knows the other's users.
//
// # One place, from start to end
//
// The engine resolves a place and calls the registry's Compile function of the probe with it. That function is
// Linker.Handlers or Linker.Exact: the source compiles its programs for the place (a script's probe does so again where
// debug information matters), Bind verifies each program once, lowers it for the place's registers and word size, and
// keeps the result, so that places of one kind share it. Nothing that has not been verified is ever returned.
//
// # Threads
//
// A Linker is safe for concurrent use. Compile functions run on the goroutine that adds a probe, or on the engine's
// tracing thread when a module is mapped later: they must not call the session. Linker.mu guards the kept programs and
// reported warnings; it is held while a program is verified and lowered, and Options.Warn is called without it. Copies
// has locks of its own: debug information is read only by Copies.Fresh and Copies.Of, never while a place is linked.
package link
