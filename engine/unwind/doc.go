// Package unwind finds the callers of a stopped thread: it evaluates the call-frame information that compilers leave
// in .eh_frame and .debug_frame (DWARF 5, 6.4; Linux Standard Base, "Exception Frames") over the thread's registers
// and stack.
//
// One walk, from start to end. A Walker takes the thread's registers out of an arch.Regs by way of a Layout, which
// maps DWARF's register numbers to the architecture's. For every frame it asks the caller's Find function which
// module holds the program counter; the module's Table looks the address up in .eh_frame_hdr (a sorted table that the
// linker made, so that opening a module parses nothing) and runs the CFA program of the one entry found. What comes out,
// a row, says where the frame starts and where each register was saved; it is kept in a small direct-mapped cache, because
// probes hit the same call sites again and again. Applying a row reads a few words of stack, which come
// out of pages the Walker has read whole: one call to the process per page, not per word. Where there is no
// call-frame information, the frame pointer and the look of a return address on top of the stack are tried.
//
// Return addresses point behind a call, which may be the last instruction of its function. So all frames but the
// innermost, and those a signal interrupted, are looked up one byte before.
//
// Programs for 32-bit ARM have .ARM.exidx instead (exidx.go), which knows whole frames alone; in prologues and epilogues the instructions
// are looked at (partial.go).
//
// A Table is safe for concurrent use: its index is built once under a lock, its rows are immutable and published by
// atomic pointers. A Walker belongs to one goroutine at a time; walking allocates nothing once the rows are cached.
package unwind
