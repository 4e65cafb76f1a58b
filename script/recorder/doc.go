// Package recorder gives JavaScript the trails and recorders of a script. What programs log into them waits in the
// arena: programs commit or discard trails themselves, and a recorder is dumped here.
//
// # One dump
//
// A callback calls dump(), or an event happens that the recorder's option "on" names. Capture empties the recorder on
// the goroutine that reports the event, so that what the target does later overwrites nothing. The host then delivers
// the records to the callbacks of their probes (Report), between two lines that say which recorder it was and why.
// Recorders with on: "end" are dumped when the run ends.
//
// # Threads
//
// Capture is safe for concurrent use; Recorders.mu guards the list of recorders and is a leaf. Everything else belongs
// to the goroutine that owns the JavaScript machine.
package recorder
