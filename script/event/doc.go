// Package event makes the objects that exit callbacks get from records.
//
// # One event
//
// A record has the values of a format in order. The layout of a format, made once, says which of them make which
// property: several parts of a template are joined to one text, and dotted names are nested records. Events.Object
// gives a dynamic object that converts a value when the callback reads it.
//
// # Threads
//
// Everything belongs to the goroutine that owns the JavaScript machine.
package event
