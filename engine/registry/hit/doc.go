// Package hit runs the programs of one hit, keeps what they log until the probed instruction has completed, and
// then commits it. How a thread is stopped, and how its instruction is completed, is up to the back end, which
// implements Target.
//
// # One hit, from start to end
//
// The back end calls Begin, and then Enter for each placement at the point, in order. Enter checks the probe's
// predicate and its admission, makes the back end record the call if its leave is needed, and runs the program;
// Leave does the same for calls that end. Each program that ran is a run, with its log. When the instruction has
// completed, Posts runs the programs that come after it, and Commit makes the logs visible, does what programs
// requested at their end (hold, stop, dump), and frees storage. If the instruction faulted instead, Faulted
// discards the logs, except for probes that keep them, and runs the fault handlers. An event is visible only when
// its instruction has completed.
//
// # Cost
//
// A hit allocates nothing: runs and logs are kept and reused. There are never more logs in use than programs whose
// instruction has not completed.
//
// # Concurrency
//
// A Runner and all its Hits belong to one goroutine at a time: the tracing thread, or the goroutine that holds the
// session's lock.
package hit
