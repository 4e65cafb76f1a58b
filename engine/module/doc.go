// Package module reads ELF files and finds out where processes map them: functions and variables by name and by
// address, static marks, relocations that tell what an indirect function became, and the mappings of a process grouped into
// loaded modules.
//
// How a name becomes an address, from start to end. Open reads the headers and the program headers of a file, nothing
// more. The first question about symbols reads .symtab and .dynsym, and those of a separate debug file when there is
// one (found by build-id or .gnu_debuglink), drops what is no definition, sorts the rest by address and makes one Func of
// all names of one address. Stripped Go programs have their names from the table that Go's runtime keeps (gotable.go). Sizes
// that symbols leave out come from .eh_frame, else from the next symbol. Lookup finds exact names by a hash index; patterns
// and C++ or Rust names run over all names, and demangle only those whose mangled form contains the identifiers asked
// for, because demangling costs more than anything else here.
//
// Addresses are those of the file (ELF virtual addresses, as nm prints them). What a process adds to them is the bias
// of a Loaded module, which Cache.Load computes from the process's mappings and the file's program headers.
//
// Files are read with pread, never mapped: a file that is truncated while it is in use gives an error, not a fault that
// would end a tracer in the middle of its work.
//
// Concurrency: a File is immutable once open; what it reads lazily is read once under a lock. Files and Caches are
// safe for concurrent use, except that Close must come last. A Cache has one lock, which is held while a file is
// opened; a File has one for each thing it reads lazily (debug file, symbols, frames, marks, demangled names), taken in the
// order marks, symbols, debug file or frames or names, never the other way round.
package module
