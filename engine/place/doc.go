// Package place names probe points: the grammar of a specification such as "libc:malloc+0x10", and what it stands for
// in the modules of a process.
//
// One operation from start to end: Parse splits the text and reports everything that is wrong with it, without a
// target. A Resolver then finds the places in one module (Resolve) or in all modules of a process in their order
// (ResolveAll): functions and variables by the module's symbols, static marks by its notes, source lines by debug
// information, which another package reads and provides as Lines. A function of the architecture, which is provided,
// too, checks that offsets into functions are instruction boundaries. So this package knows neither instruction sets
// nor DWARF. The results are Targets: a file and an address in it, never an address of a process, because a Target is
// valid for every process that maps the file.
//
// Errors are typed: SyntaxError has the column, NotFoundError what was searched where and similar names, OffsetError
// the nearest instructions, RefusedError why an existing place cannot be probed. All have a Hint.
//
// Specs and Targets are plain values. A Resolver has no state and is as safe for concurrent use as its functions. A
// Cache of answers has a lock of its own, which is not held while a Resolver works.
package place
