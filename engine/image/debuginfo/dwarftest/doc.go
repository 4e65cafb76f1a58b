// Package dwarftest encodes DWARF debug information for tests: files that no compiler writes, but that a malicious
// program may have.
//
// Build a tree of DIE, and pass its root, a compile unit, to Encode. The result is a file that entry.New and
// debuginfo.Open read. Everything is a function of its arguments and may be called from any goroutine. Only tests
// import this package.
package dwarftest
