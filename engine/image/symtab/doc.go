// Package symtab finds functions and variables of an ELF file by name and by address, from its symbol tables.
//
// One operation from start to end: Lookup("malloc"). The first question reads .symtab and .dynsym of the file, or the
// symbols of its separate debug file or of .gnu_debugdata when it is stripped; for a stripped Go program, the names in
// Go's own table. Definitions are sorted by address, and all names of one address are combined to a Func. Sizes that
// symbols lack come from call-frame information or from the next symbol. Lookup finds exact names in a hash index.
// Patterns, and C++ and Rust names, are compared with all names by package symname.
//
// A session asks for a few names and addresses of a file, and sorting all symbols of a large one takes longer than the
// rest of its start. So the first questions are answered without: the names are searched as the file has them, and only
// the symbols at the addresses that matter are sorted and combined, by the same code (subset.go). Where this is not
// enough, as for a size that depends on the next symbol, and after 32 questions, all symbols are read. So two answers
// may have two Funcs for one function: compare their addresses.
//
// Where tables and call-frame information come from, the Table does not know: package module, whose File has a Table,
// is its Origin.
//
// Concurrency: what a Table has read is immutable, and each part is read once, under a lock of its own, in the order
// exports, symbols, tables, then what the Origin reads. A Table is safe for concurrent use.
//
// Called from: package module, and through its File all that resolve and show names.
package symtab
