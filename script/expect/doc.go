// Package expect implements test(…) and expect(…), with which a script states what it expects of a recording.
// Expectations count only while `gotap test` plays a recording; a normal run ignores them.
//
// # One test
//
// Test stores the function of a test. When the recording has been played and the end callbacks have run, Run calls all
// tests. An expectation that fails is recorded with its place and does not throw. A test fails if one of its
// expectations fails or if it throws.
//
// # Goroutines
//
// Everything belongs to the goroutine that owns the JavaScript machine. The Verdict may be read after Run.
package expect
