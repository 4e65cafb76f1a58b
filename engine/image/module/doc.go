// Package module reads ELF files and finds where processes map them: their symbols, static marks, relocations of
// indirect functions, and the mappings of a process grouped into loaded modules.
//
// One operation from start to end: Lookup("malloc"). Open reads the ELF header and the program headers only. The
// question goes to the File's symtab.Table, which asks for sections when it first needs them (symbols.go): those with
// symbols, of the file or of a separate debug file (found by build ID or .gnu_debuglink) or of .gnu_debugdata; Go's own
// table in a stripped Go program (gotable.go); and .eh_frame for the sizes that symbols lack.
//
// Addresses are those of the file (ELF virtual addresses, as nm prints them). The address in a process is larger by the
// bias of the Loaded module, which Cache.Load computes from the mappings of the process and the program headers.
//
// Files are read with pread and never mapped: a file that is truncated while it is in use gives an error, and not a
// fault that would end the tracer.
//
// Window says where a probe may be a jump: it needs to know what leads into the middle of a few instructions. Targets,
// which the first Window reads, decodes all code of the file and reads jump tables, pointers, exception tables and
// restartable sequences. It keeps one bit for each address that a branch leads to and one for each that data points to,
// a quarter of the size of the code. What it found in large code is kept on disk for the next session (targetcache.go).
// Larger code than 128 MiB is not searched, and no jump fits anywhere in it.
//
// Concurrency: a File is immutable once open, and each lazy part of it is read once under a lock. Files and Caches are
// safe for concurrent use, except that Close must come last. A Cache has one lock, which is held while a file is
// opened. A File has a lock for each lazy part, taken in the order targets or marks, symbols, then debug file, frames
// or Go's own table.
//
// Called from: the engine and the packages that resolve and show symbols. Debug information is package debuginfo.
package module
