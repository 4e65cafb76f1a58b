// Package symbols names addresses, and caches what describes the code of files: debug information, call-frame
// information, line tables. All back ends use it for the modules of their targets.
//
// # From an address to a name
//
// A back end knows which module is mapped at an address; Name turns the address into one of the file, and looks up the
// function in the file's symbols and the line in its debug information. Stack does that for return addresses, which are
// looked up one byte before, because a call may be the last instruction of its line or its function; calls that the
// compiler inlined become entries of their own.
//
// What is read of a file is read once, when it is first asked for, and kept: addresses are named after the target has
// gone, too. Files that are no files of their own, as a list of symbols that package remote makes one of, are read
// through the module.
//
// # Concurrency
//
// One lock, a leaf, held while a file's information is opened. All methods may be called from any goroutine.
package symbols
