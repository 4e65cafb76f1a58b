// Package procfs reads facts about processes and threads in /proc (proc(5)). All functions are safe for concurrent use,
// and treat a thread that has ended like one that never existed.
package procfs
