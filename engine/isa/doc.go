// Package isa is what back ends need to know of an instruction set beyond package arch: how Linux's compilers and
// linkers lay out its code, where its instruction sets meet, and what its calls do to the stack. It is data, the same
// on every host; whether a target is traced by the kernel's requests or through a stub makes no difference to it.
//
// # What is asked, in the life of a probe
//
// When a place is resolved, Boundaries lists the instructions of a function among the data between them. When it is
// armed, SetAt tells the instruction set of the code at an address, Decode and Prepare (package arch) make a site of
// it, and Exclusives lists what stands in a sequence of exclusive accesses. Exits finds where a function is left. At a
// hit Executes tells whether the instruction's condition holds, Leave what the instruction that leaves a function does
// to the registers, and Pointer and Jump where a pointer to code leads: on 32-bit ARM its lowest bit chooses the
// instruction set.
//
// The values are made once and never changed; all methods may be called from any goroutine.
package isa
