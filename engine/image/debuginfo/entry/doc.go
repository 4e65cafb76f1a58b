// Package entry reads the units and entries (DIEs) of the DWARF debug information of one module. It is the lowest of
// the packages below debuginfo: it knows offsets, attributes and names, but no types, functions, lines or locations.
//
// One operation from start to end: UnitAt(pc). Load maps the sections to byte slices and walks the unit headers, which
// say where each unit starts and ends. It reads the root entry of each unit for the ranges of code that the unit
// covers, and sorts the ranges. UnitAt is a binary search in them. At(off) then reads single entries, Children and
// TopLevel read lists of entries, and Attr, Ref and Origin follow references, including those to type units by
// signature.
//
// Entries are read by a stream of our own, which returns them as debug/dwarf would. debug/dwarf reads the abbreviations
// of all units of a section before it answers anything, which was half of the time to place a probe at a function of a
// C library; a stream reads those that it meets. Only line tables are left to debug/dwarf. A test compares both.
//
// Questions about all entries of a unit (Survey) are answered by a scanner, which passes over what is not asked for. An
// object for every entry and every value took more than half of the time to place a probe in a program with 138 MB of
// debug information. The scanner gives up where it meets what it does not know; then the same question is answered by
// the stream. A test compares both.
//
// Type units of DWARF 4 have a section of their own, .debug_types. It is appended to .debug_info, so that all entries
// share one space of offsets.
//
// A Reader is not safe for concurrent use, and neither are the packages that use it: one stream is moved by all
// calls. debuginfo.Info holds a lock. A method that takes a visitor says whether the visitor may move the reader.
//
// Sections are slices of mapped files and are never written. The file may be damaged on purpose, so lengths are
// compared with the section, and chains of references are bounded by MaxOrigins. Reading may panic on damaged data and
// may fault when the file is truncated; debuginfo.Info turns both into errors.
//
// Called from: ctype, function, location, line, callconv and debuginfo. It imports none of them, and of
// other packages symname.
package entry
