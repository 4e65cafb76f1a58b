// Package semaphore raises the semaphores of static marks: 16-bit counters in a program's data, which the program reads
// to decide whether it prepares a mark's arguments at all. Native tracing and remote stubs use it alike, over the
// memory that they write (Memory).
//
// # One change, from start to end
//
// When probes on marks have been armed or disarmed, the back end calls Counts.Sync with the points of the address
// space. For each semaphore the armed probes are counted. Other tracers may have raised it too, so what is added is the
// difference to what this session added before. When a memory is given up while its probes stay armed elsewhere,
// Counts.Clear takes back what was added.
//
// # Threads
//
// A Counts belongs to its address space, and its methods run where the back end may change that.
package semaphore
