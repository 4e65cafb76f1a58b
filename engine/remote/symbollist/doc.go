// Package symbollist makes an ELF file of a kernel's list of symbols. Such a list, System.map or the contents of
// /proc/kallsyms, is often all that is available of a kernel's file. Its lines are "ADDRESS TYPE NAME".
//
// # One list, from start to end
//
// Is recognizes a list by its first line. Open reads its functions and refuses lists that cannot be those of a
// kernel, such as one whose addresses the kernel has hidden. File lays out the ELF file in memory: a table of symbols
// without sizes, which package module derives from the next symbol, and a section of code from the first function to
// the last, whose contents are read from the target when they are needed.
//
// # Concurrency
//
// A List is never changed after Open. The file reads the target through the function that File was given, so its code
// may be read only when and where that function may be called.
package symbollist
