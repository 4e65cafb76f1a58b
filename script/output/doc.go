// Package output writes what a script produces: as text for people, or as one JSON object a line for programs.
//
// Data goes to one stream; errors, losses and console.error go to the other. In JSON everything is data.
//
// Writes are buffered until Flush, which the host calls whenever it has nothing else to do. After a failed write a sink
// drops everything, and Err returns the error: a reader that has gone must not stall a trace.
//
// A sink's methods may be called from several goroutines.
package output
