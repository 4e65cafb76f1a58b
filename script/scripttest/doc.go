// Package scripttest loads scripts for tests and runs the programs of their probes on an invented thread, without a
// process.
//
// # One hit
//
// New loads a script with a real arena and with a Tracer that only records calls. Start runs the script's begin
// callbacks and its host. Enter compiles, verifies and lowers the program of a probe as a session does, runs it on a
// Thread whose arguments the test gives, and commits what it logged to the ring; Call does so for enter and leave. The
// host delivers the record to the script's callback. Finish ends the run, when all records have been delivered, and
// returns the output.
//
// # Goroutines
//
// Programs run on the test's goroutine and callbacks on the host's. Output may be read at any time; the fields of a
// Tracer need its mutex while the host runs. Everything else belongs to the test's goroutine.
package scripttest
