// Package declare writes what a program declares as TypeScript: a file for the editor and tsc, beside gotap.d.ts.
//
// Text makes it from debuginfo.Declarations: an interface for each struct, in a namespace of the program, and members
// of the interfaces Places, Globals and NamedTypes, which gotap.d.ts declares and its overloads of probe, global and
// cast use. So probe("f", …) gives c.args the members of the arguments of f.
//
// Numbers stay numbers: a pointer to a struct, or a struct, is a number with members. The names come from the traced
// program and may be anything; all are quoted, or made identifiers.
//
// Everything is a function of its arguments and may be called from any goroutine.
package declare
