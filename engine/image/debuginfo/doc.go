// Package debuginfo answers questions about one module from its DWARF debug information: the parameters of a function
// and how to read them, the type of its result, the code of a source line, the function and line of an address.
//
// The packages below it each own a noun: entry reads units and entries, ctype types, function functions and their
// scopes, location the places of values, lines line tables, callconv calling conventions. They do not lock. Info guards
// each question and combines them:
//
//	debuginfo → callconv, lines → location → function → entry
//	            callconv → ctype → entry
//
// One question, from start to end: c.args.p.next.x at the entry of a function. function.Index finds the function that
// contains the address; only the unit around it is read. access.go finds the parameter's entry, which has a type and a
// location. At the entry of a function, location expressions of unoptimised code are not valid, because the prologue
// has not stored the parameters yet. So callconv determines the place, except where the compiler wrote a location list,
// which is exact. The place is a compile.Access under construction. walk.go moves it to a member for each further name
// of the path, and loads pointers on the way. The type of the last member gives the size and sign of the value.
//
// The debug information comes from the traced program and may be malicious. Lengths are compared with the data, and all
// chains are bounded: of references (entry.MaxOrigins), of typedefs and nested types, the number of types for one
// question (both in ctype), expressions (in location). The answer may be wrong, but every question ends, and none
// overflows the stack, which Go cannot recover from.
//
// Nothing is parsed before the first question, and then only the units it needs. Sections are slices of mapped files
// and are not copied. An Info is safe for concurrent use: a question holds its one lock, because reading moves the
// reader and fills caches. Faults in a truncated file and panics in damaged data become errors of the question.
//
// Parts of the debug information may be in other files: units that the compiler split off (.dwo, .dwp), and what dwz
// moved to a file for several modules. They are opened when a question needs them. Questions that need a file that is
// missing return a *MissingError, which matches ErrSplit or ErrAlt and names the file; Missing lists these.
package debuginfo
