// Package ctype reads the types of the source from DWARF entries: their kinds, sizes and members, and how C writes
// them.
//
// One operation from start to end: FindMember for x in struct point. Strip(off) reads the type at an offset with At and
// follows typedefs and qualifiers. When the unit only declares the struct, the definitions of all units are listed by
// their qualified names, and the one definition with that name is taken. Members reads the child entries of the struct
// once; FindMember searches them, and then the members of anonymous members and base classes, as C++
// does. Types are read shallowly: the type of a member is an offset until somebody strips it.
//
// The file may be malicious. All steps from type to type go through At, which refuses cycles and more than maxTypes
// types for one question. Begin starts a question.
//
// A Types is not safe for concurrent use, because it moves the entry.Reader. A *Type is filled once and then only
// read, except for its members and ByRef, which are filled when they are first wanted.
//
// Called from: callconv and debuginfo. It imports entry alone.
package ctype
