// Package space is the address spaces of traced processes: their memory and modules, the points in them, and the
// breakpoints that a session writes into their code.
//
// # Threads
//
// Everything belongs to the session's tracing thread. Only there may code of a target be written, and nothing here has
// a lock. A Point that other goroutines see is a retprobe.Point, whose page says what they may read.
//
// # One breakpoint, from start to end
//
// A Space exists for each memory image that a process of the session uses; processes share one between vfork and exec.
// PointAt makes the Point of an address, once: the instruction is read, decoded and compared with the file, and it is
// decided how it will be completed while it is displaced (executor.Prepare; Emulated, OutOfLine or InPlace). Owners of
// a point, such as probes, calls that return there, or the session's own Action, change its retprobe.Point and call
// Sync. Sync asks the executors in their order which of them fits (package executor), and the first installs the point:
// Patcher.Breakpoints writes the breakpoint, at once or with a batch (Together), after the original bytes have been
// recorded for the crash handler (package crashsafe). When no owner is left, Sync restores the bytes. Points stay known
// after that: a thread may have hit the breakpoint before it was removed, and its stop may be reported later.
//
// A fork copies the points (CopyPoints); what is in the child's memory is settled in the child's first stop
// (SettleChild). Exec, and the end of the last process, drop the Space (Drop). An unloaded module takes its points with
// it (Unmapped).
//
// An executor that writes more than a breakpoint, such as a jump to native code, implements Jumps. Its part of a point
// is Point.Jump, its part of an address space Space.Native. What it displaces is hidden from reads as breakpoints are
// (Read, Peek, Code).
//
// # What may be called from where
//
// Anything that writes code may be called whether threads of the space run or not: why that is safe on x86 is argued at
// Sync, and on ARM the Host pauses them. SlotFor needs a thread that is stopped at a breakpoint, because the process
// itself maps the memory. Methods of Host are called from all of these, and must not change points.
package space
