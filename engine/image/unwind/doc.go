// Package unwind finds the callers of a stopped thread. It evaluates the call-frame information that compilers write to
// .eh_frame and .debug_frame (DWARF 5, 6.4; Linux Standard Base, "Exception Frames") with the thread's registers and
// stack.
//
// The main operation is Walk. A Walker copies the thread's registers from an arch.Regs with a Layout, which maps
// DWARF's register numbers to those of the architecture. For every frame the caller's Find function returns the module
// that contains the program counter. The module's Table finds the entry in .eh_frame_hdr, a table sorted by the linker,
// so that opening a module parses nothing. It then runs the CFA program of that entry. The result is a row: where the
// frame starts and where each register was saved. Rows are cached, because probes hit the same call sites repeatedly.
// Applying a row reads a few words of stack from pages that the Walker has cached. Without call-frame information, the
// Walker tries an end of the function that follows at once (epilogue.go), a return address on top of the stack, and the
// frame pointer (guess.go).
//
// A return address follows a call, which may be the last instruction of its function. So all frames except the
// innermost, and those that a signal interrupted, are looked up one byte before their program counter.
//
// Programs for 32-bit ARM have .ARM.exidx instead (exidx.go), which describes complete frames only. In prologues and
// epilogues the instructions are decoded (partial.go).
//
// A Table is safe for concurrent use: its index is built once under a lock, its rows are immutable and published by
// atomic pointers. A Walker belongs to one goroutine at a time. Walking allocates nothing once the rows are cached.
//
// Users are the engine, image/symbols and image/debuginfo/location. The package imports only arch.
package unwind
