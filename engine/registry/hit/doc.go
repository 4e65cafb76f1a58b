// Package hit runs the programs of one hit, keeps what they logged until the probed instruction has completed, and commits it then. How a
// thread was stopped, and how its instruction is completed, is the back end's business: it is asked through Target.
//
// # One hit, from start to end
//
// The back end calls Begin, and then Enter for each placement at the point, in their order. Enter asks the probe's predicate and
// its admission, has the back end remember the call where its leave is wanted, and runs the program; Leave does the same for calls
// that end. Each program that ran is a run, with its log. When the instruction has completed, Posts runs what comes after it, and
// Commit makes the logs visible, does what programs asked for by their end (hold, stop, dump), and gives storage back. When it
// faulted instead, Faulted throws the logs away, but for probes that want them, and runs the fault handlers. An event is visible
// only when its instruction has completed.
//
// # Cost
//
// A hit allocates nothing: runs and logs are kept and used again. There are never more logs in use than programs whose instruction has not
// completed.
//
// # Concurrency
//
// A Runner and all its Hits belong to one goroutine at a time, the tracing thread or whoever holds the session's lock.
package hit
