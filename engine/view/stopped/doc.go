// Package stopped is what programs see of a stopped thread, as far as its registers, its memory and the modules of its
// process say it: arguments, results, the caller, the names of the code. It is the same for native tracing (package
// view) and for remote stubs, which embed a View each and add what they alone can say, such as the number of a process.
//
// # Threads
//
// A View and an Unwinding belong to the session that traces, and are used only where its threads are stopped.
//
// # One program, from start to end
//
// Init connects a View with the parts of its thread. Enter is called with each program that the thread's process runs.
// When the thread has stopped and its registers have been read, the back end calls At with the point that was hit. Then
// package hit runs the programs, which call the methods of runtime.Thread, and package retprobe follows calls with
// those of retprobe.Target. The back ends' own methods of the same names come first, and call those of View for
// everything else. Fault notes where an instruction has faulted, for fault handlers.
//
// # What may be called from where
//
// All methods read registers as of the present stop, and memory as it is. Those that a program calls at each hit make
// no call through Thread, except on processors whose functions leave with one instruction that loads registers as well.
package stopped
