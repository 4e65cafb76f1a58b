// Package cpumask reads and sets the CPUs that threads may run on (sched_setaffinity(2)).
//
// A mask is read from /proc/TID/status, and not with sched_getaffinity: the system call leaves out CPUs that are
// offline now, so a mask that was read with it and set again would lose them.
//
// The kernel remembers the mask that was set for a thread, besides the one in force (user_cpus_ptr in
// kernel/sched/core.c): when the thread's cpuset grows, a thread whose mask was never set gets the new CPUs, and one
// whose mask was set gets those of its mask. A thread whose mask was never set is brought back to that state by setting
// all CPUs, of which the kernel uses those of the cpuset. Neutral finds out whether that is so.
package cpumask
