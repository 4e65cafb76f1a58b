// Package shape describes values that are more than a number: structs, arrays, text, containers, values with
// alternatives. The engine, which reads debug information, makes a Shape for each value; the compiler of scripts reads
// the value by it, part by part. Paths in a Shape name members as a script does, with dots between them; those that
// begin with @ are known only to what made the Shape.
//
// It is plain data, without anything of a process or of a file.
package shape
