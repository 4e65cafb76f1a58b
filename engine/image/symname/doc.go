// Package symname reads names of symbols: it makes mangled C++ and Rust names readable, compares names with patterns,
// and finds names that resemble a wrong one. It knows names alone, not what they stand for: package symtab asks it
// about each name of a file.
//
// One operation from start to end: the functions that "geo::*::area" matches. NewQuery splits the pattern into the
// identifiers that a mangled name must contain. Query.Match is called for each name of a symbol table; it compares the
// name itself, and demangles it only if it contains all of them, because that takes about 50 µs. The Cache keeps what
// has been demangled.
//
// A pattern matches a name with and without template arguments, parameters and Go's type arguments, because people and
// tools write all of these. Suffixes that compilers add to the names of functions that they changed or split
// (".constprop.0", ".cold") are no part of the readable name; see CloneSuffix.
//
// Concurrency: a Query is immutable, a Cache has a lock, and everything else is a function of its arguments. Compiled
// regular expressions are kept for the life of the program.
package symname
