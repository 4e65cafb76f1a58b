// Package procfs reads what Linux tells of processes and threads in /proc (proc(5)). All functions are safe for concurrent use, and
// answer of a thread that has ended meanwhile as of one that never was.
package procfs
