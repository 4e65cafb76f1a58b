// Package report tells the user of a session what happens to its targets, through the callbacks of backend.Config.
// Native tracing and remote stubs use it alike.
//
// A warning is given once in a session, however often it comes up. An event gets the time at which it is reported. A
// Reporter belongs to its session: it is used on the session's tracing thread, or with its lock held, where the
// callbacks run, too. They must not block.
package report
