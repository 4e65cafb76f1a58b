// Package view is what programs see of a traced thread, and what they do to it: its memory, vector registers, stack,
// what /proc says of it, and the requests that a program makes, such as a signal or a core. What follows from
// registers, memory and modules alone, such as arguments and callers, is in package stopped below it, which remote
// stubs use as well.
//
// # Threads
//
// Only the session's tracing thread uses it, while the traced thread is stopped. All threads of a session share its
// Images, which only the tracing thread uses as well.
//
// # One program, from start to end
//
// When a thread has stopped and its registers have been read, the session calls Begin with the point that was hit. Then
// package hit runs the programs, and each operation that asks something of the thread calls a method of runtime.Thread
// here. Everything is fetched when it is asked for: memory as it would be without breakpoints (ReadMemory), vector
// registers once per hit (FPRegs), a name from a file that stays open (Comm), a stack with the unwinding tables of the
// modules (Stack; Images keeps those of the kernel's vDSO). Requests that concern more than the thread go to Host.
//
// When an instruction of the thread has run, the session calls Ran; when one has faulted, Fault; when the thread has
// ended, CloseFiles; when its process has another address space, the session calls Enter.
//
// # What may be called from where
//
// All methods read registers from the tracee.Thread, which must be as of the present stop. Stack, Text and Field may
// read files of /proc, and are not for paths where each microsecond counts. Host's methods are called while programs
// run; they must not resume the thread.
package view
