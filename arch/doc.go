// Package arch describes instruction sets: how to decode an instruction, whether it can be probed, how to complete
// it after a breakpoint has displaced it, and where a function's arguments and result are.
//
// Everything is a pure function of a register file and a memory interface. Nothing makes a system call, so every
// architecture compiles and is tested on any host. Only the engine has build tags.
//
// # The life of a site
//
// Decode reads the original bytes. Prepare classifies the instruction once, when a probe is placed, and makes its
// Site. The Site serves every hit: either Emulate completes the instruction, or BeforeStep and AfterStep surround a
// single step that the engine makes. A Site is immutable, so all threads of all targets share it.
//
// # The life of a window
//
// A WindowArch can also replace instructions by a jump. WindowAt finds the whole instructions that the jump overwrites,
// or why none fits. What else leads into their middle is a question to the file: a BranchArch finds it in the code.
// Copy makes the instructions run elsewhere, at full speed, and Patch makes the bytes that replace them.
//
// # Other architectures
//
// docs/porting.md lists what a new architecture has to bring, here and in the engine.
package arch
