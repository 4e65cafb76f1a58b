// Package compiler compiles the handlers of one probe: it joins lower, which checks, and emit, which writes.
//
// One call of Compile from start to end: a state.State is made for the unit; lower.LowerHandler checks each handler in
// the order in which they run during a call (enter, post, leave, fault, when). If one of them learned a fact that an
// earlier one was compiled without, everything is thrown away and begun again with the fact. Then fields of `this` that
// are never set are reported, emit.Program writes each handler, and the arena is told how maps and aggregations are
// used. With an error, the result has no programs.
//
// Compile may be called from any goroutine, several at once. The tests of the whole compiler are here: scripts whose
// errors are written on the line that must fail (testdata), listings, runs on the machine, and random programs compared
// with JavaScript.
package compiler
