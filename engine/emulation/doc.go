// Package emulation completes instructions of traced threads on their registers, instead of the processor. Packages
// below arch know what an instruction does; this one gives them a thread's memory, its vector registers and the
// registers of the system, and refuses what an emulation must not do.
//
// # Threads
//
// Only the tracing thread uses it. The thread whose instruction is emulated is stopped, and its registers have been
// read.
//
// # One instruction, from start to end
//
// On x86, Try emulates the instruction. In a process that uses protection keys, an access outside the stack fails
// (keys.go): the kernel would let the session read what the thread itself must not. Whatever fails is left to the
// processor, which the caller makes step.
//
// On ARM nothing is stepped. Complete reads the vector registers if the instruction is one of the vector unit, emulates
// it, and writes them back. Watchpoints do not see what the session reads and writes, so the accesses are compared with
// them (Met). Registers of the system that only the thread itself can read, and caches that only it can maintain, are
// refused (memory.go). Leaving computes what an instruction at a function's exit would leave, without memory being
// written.
//
// The registers are written to the thread by the caller, once for all that happens in a stop.
package emulation
