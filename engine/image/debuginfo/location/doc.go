// Package location finds where values are: it evaluates DWARF location expressions and location lists to places.
//
// A Place is a compile.Access under construction: a base (register, frame, address, constant) and steps. Places are
// immutable values. A value in several registers is a place with pieces; the piece is chosen when a number is read.
//
// One operation from start to end: the variable i at pc. Of(unit, entry, pc) returns the location expression, from the
// entry itself or from the location list. Locate evaluates it with a locator, a stack machine
// whose values are places: fbreg pushes the frame base, which is a location of its own; call_frame_cfa asks the
// call-frame information for the register to start from; plus and deref extend the place on top. An operation that an
// access cannot represent ends with an error. Scalar, BitField or Address then complete the access.
//
// Expressions are bounded by maxExpr, and a frame base cannot refer to itself. A Finder is not safe for concurrent use.
//
// Called from: callconv, which builds places by calling convention and compares them with those of the compiler, and
// debuginfo, which walks from a place to its members. It imports entry and function, and unwind for frames.
package location
