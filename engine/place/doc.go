// Package place is how probe points are named: the grammar of a specification such as "libc:malloc+0x10", and what it
// means in the modules of a process.
//
// One specification, from start to end. Parse splits the text and finds everything that is wrong with it before any
// target is looked at. A Resolver then finds its places in one module (Resolve) or in all modules of a process in their order
// (ResolveAll): functions and variables through the module's symbols, static marks through its notes, source lines
// through debug information, which another package reads and hands in as Lines. Offsets into functions are checked to be
// instruction boundaries by a function of the architecture, also handed in, so that this package knows neither
// instruction sets nor DWARF. What comes out are Targets: a file and an address in it, never an address of a
// process, because the same Targets serve every process that maps the file.
//
// Errors are typed: SyntaxError tells the column, NotFoundError what was looked for, where, and what looks like it,
// OffsetError the nearest instructions, RefusedError why a place that exists cannot be probed. All have a Hint.
//
// Specs and Targets are plain values. A Resolver holds no state of its own and is as safe for concurrent use as the
// functions it is given.
package place
