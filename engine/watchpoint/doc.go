// Package watchpoint is the probes on accesses to data, and on instructions by the processor's debug registers. A List
// is the watchpoints of one process, set by a stub or by native tracing, which writes the debug registers of each of
// its threads (Thread).
//
// # One watchpoint, from start to end
//
// List.Add finds the addresses that a specification names in a process, and compiles the probe for them. Debug
// registers belong to threads, so each thread of the process gets the same ones with Thread.Write, at a moment when it
// is stopped; so do new threads. An access to data is reported after it has happened, by a SIGTRAP that identifies it:
// Thread.Met says which watchpoints it is for, and List.Run runs their programs as part of the present hit.
//
// On processors where nothing is stepped the debug unit stops a thread before the access. The back end emulates the
// instruction then, and List.Touched says what the emulation's own accesses hit.
//
// # Threads
//
// All methods are called where the back end may change its processes; those of Thread but Stale and Armed while it is
// stopped.
package watchpoint
