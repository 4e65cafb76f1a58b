// Package probe holds the probes that a script declares: their places, options, handlers and callbacks, and the
// compiled programs.
//
// # One probe
//
// probe(places, program) reads its arguments (parse.go, option.go) and keeps the function values. When the top level
// has run, Set.Compile folds each of them to a syntax tree with the meaning of its names (package fold) and compiles it
// without a place. The engine calls Probe.Compile again for each place, since programs may depend on it. A probe made
// in a callback is compiled and placed at once. When a watched script changes, Plan compares the probes of both
// versions by their Fingerprint.
//
// # Threads
//
// A Set belongs to the goroutine that owns the JavaScript machine. Probe.Compile is safe for concurrent use:
// compiled.mu guards the compiled results and is held while package js compiles, which may take the arena's lock.
package probe
