// Package live has what a run has produced so far, for those who look at it while it goes on: a page, a terminal,
// monitoring systems.
//
// A Board is a sink of the run. It reads the aggregations of the running session when somebody asks, at most five times
// a second, so that nobody who looks costs the target anything. When the session ends the board keeps what it read
// last, and what the script prints at the end.
//
// A Board is safe for concurrent use.
package live
