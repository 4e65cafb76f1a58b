// Package debuginfo answers what the DWARF debug information of one module knows: the parameters of a function and
// how to fetch them, the type it returns, the code of a source line, the function and line of an address.
//
// One question, from start to end: c.args.p.next.x at the entry of a function. Units are found by address in a table
// made of the unit headers alone; the functions of the one unit that covers the address are listed by reading its top
// level and skipping what is below. The parameter's DIE gives a type and a location. The location becomes a
// place, which is a compile.Access under construction: a base (register, frame, address) and steps. Each further name of
// the path moves the place to a member, through pointers by loading them. At the end the type of the last member
// says how many bytes to load and with which sign.
//
// At the entry of a function its own location expressions are not to be trusted: unoptimised code has not yet stored
// its parameters where they say. There the calling convention decides (amd64_abi.go, i386_abi.go, arm64_abi.go, arm_abi.go, and
// go_abi.go for Go's own), except where the compiler wrote a location list, which is exact at every instruction and knows
// functions whose convention the optimiser changed. What the convention does not decide is refused: passing.go knows the types that tell
// too little, or that compilers pass differently, clone.go the functions that are not called as their source says.
//
// Where what is done: info.go opens the sections and guards each question; unit.go reads unit headers and entries; function.go and
// scope.go find the function and the blocks around an address, lines.go and pass.go the code of a line; ctype.go reads types and
// member.go the fields of structs, declare.go and naming.go write them and names; access.go finds a variable, global.go a static
// one, and walk.go walks a path from it, with loclist.go and expr.go finding where a value is, and place.go being that place.
//
// Whoever made the traced program made its debug information too, and may have made it to do harm. Lengths are compared with what is there,
// and what leads from entry to entry is bounded: chains of references (maxOrigins), of typedefs and types within types
// (maxAliases), the types that one question looks at (maxTypes), expressions (maxExpr). A wrong answer is possible, an
// endless one, or an overflow of the stack, which nothing recovers from, is not.
//
// Nothing is parsed before the first question, and then only the units concerned. Sections are slices of a mapped file,
// never copied. An Info is safe for concurrent use: one lock is held for each question, because debug/dwarf changes its units
// while reading. Every question turns faults on a truncated file, and panics on damaged data, into errors.
//
// Not read: split DWARF (.dwo, .dwp) and the common parts that dwz moves into another file; questions that need them
// are refused with that reason.
package debuginfo
