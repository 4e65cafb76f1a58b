// Package timer has the timers of a script: every, setInterval and setTimeout.
//
// # One call
//
// The host waits until Earliest, then calls Tick. Tick calls each timer that is due, once even if it is several
// intervals late, under the watchdog. A stopped script calls no timer. When a recording is played, Play calls them
// instead, in the recorded order.
//
// # Threads
//
// Everything belongs to the goroutine that owns the JavaScript machine.
package timer
