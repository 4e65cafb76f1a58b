// Package function finds the functions of a module by address, and reads the tree of scopes of each: the function, the
// blocks in it, and the calls that were inlined into it.
//
// One operation from start to end: At(pc) asks the entry.Reader for the unit of pc, lists the functions of that unit
// once, by reading its top level and skipping the rest, and searches the list. Scope(fn) then reads everything below
// the function's entry in one pass: parameters, variables, blocks and inlined calls. Path(pc) of the result is the
// chain of scopes around an address.
//
// Functions inside functions and inside local classes are listed only when an address belongs to no other function. The
// trees of scopes are cached; the cache is emptied when it has maxScopes trees.
//
// An Index is not safe for concurrent use, because it moves the entry.Reader. Params and variables are returned as
// entries: their types belong to package ctype, their values to package location.
//
// Called from: location, line, callconv and debuginfo. It imports entry alone.
package function
