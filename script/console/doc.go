// Package console has the built-in functions that write and format text on the host: print, printf, console.log, hex,
// hexdump.
//
// # One line
//
// Print joins its values as jsvm.Machine.Text shows them and hands the line to the output.Sink; errors and warnings go
// to standard error. The order of lines and of records that programs log is that of the calls.
//
// # Threads
//
// Everything belongs to the goroutine that owns the JavaScript machine.
package console
