// Package arch is what gotap knows of instruction sets: how to decode an instruction, whether a probe may stand on it,
// how it is completed once a breakpoint has displaced it, and where a function's arguments and result are.
//
// Everything here is a pure function over a register file and a memory interface. Nothing makes a system
// call, so every architecture compiles and is tested on any host; build tags belong to the engine.
//
// The life of a site: Decode reads the original bytes, Prepare classifies the instruction once, at registration, and the
// resulting Site serves every hit: Emulate, or BeforeStep and AfterStep around a single step that the engine makes.
// A Site is immutable, so all threads of all targets share it.
package arch
