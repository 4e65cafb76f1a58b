// Package expect has the expectations that a script declares with test(…) and expect(…). They count only when a recording is played
// (gotap test); a normal run ignores them.
//
// # One test
//
// Test keeps the function. When everything recorded has been played and the end callbacks have run, Run calls it. Each expectation that
// fails is noted with its place and does not throw. A test fails when one of its expectations fails or it throws.
//
// # Threads
//
// Everything belongs to the goroutine that owns the JavaScript machine. The Verdict may be read when the run has ended.
package expect
