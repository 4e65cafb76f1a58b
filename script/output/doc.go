// Package output writes what a script produces: as text for people, or as one JSON object a line for programs.
//
// Data goes to one stream, complaints (errors, loss, console.error) to the other; in JSON everything is data.
// Writes are buffered until Flush, which the host calls whenever it has nothing else to do. After a write has failed a sink
// drops everything and Err tells why: a reader that went away must not stall a trace.
// A sink's methods may be called from several goroutines.
package output
