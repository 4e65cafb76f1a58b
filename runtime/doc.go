// Package runtime is gotap's machine: it runs compiled programs, one after another, at the hits of probes.
//
// # One hit
//
// The engine's tracing thread owns a Machine and a record.Log. At a hit it calls Log.Reset, then Machine.Run for each
// program of the place. A program works on an operand stack of words; it reads the target through Context.Thread,
// changes objects in the arena, and appends items to the log. Run returns how the program ended: an outcome.Outcome,
// with a Trap if it reached a limit. After the probed instruction has completed, the engine calls Arena.Commit, which
// copies the log into the ring as one record and wakes the host if it sleeps. If the instruction faulted, the engine
// does not call Commit, and the log is discarded. Nothing in this path allocates, takes a lock or waits for another
// thread.
//
// The host, one goroutine, loops over Arena.Next and Arena.Wait. It reads and changes objects through Handles, at any
// time.
//
// # Packages
//
// From below; each imports only those above it, opcode, gate and hook import none of them.
//
//	value     values that leave the machine: printing, JSON, words
//	outcome   how a run ends: exits and traps
//	key       keys of maps as words
//	record    what programs log: log, items, ring
//	object    declarations of what programs share
//	snapshot  contents of an object: printing, JSON
//	arena     the shared memory
//	runtime   the machine
//	facility  numbered exits, and who acts on them
//
//	opcode    the operations: names, effects, needs
//	gate      which hits of a probe count
//	hook      the registry of functions that wait for something
//
// # Operations
//
// Package opcode has a row for each operation; its meaning is a case in the function that the row's group names: loop
// (machine.go) or a method of one of the types over the machine at the end of operate.go.
//
// # Other executors
//
// An executor that runs programs elsewhere checks Code.Needs to find out whether it can run a program, shares the
// arena, and counts in the gates of package gate. At an operation that it cannot execute, it passes the program on as a
// State, and Machine.Resume finishes it: a program never runs twice. FuzzResume stops random programs at their steps
// and compares them with a Run.
//
// # Threads
//
// A Machine and a Log belong to one thread each. Package arena says who may use the memory that they share.
//
// # Exceptions
//
// A program may handle its own errors (exception.go), as in DProbes. The DProbes interpreter had holes: the limit on
// jumps could itself be caught, a handler that set itself again ran forever, and calls were not charged. Here every
// instruction takes a step, fuel is checked before each, and running out of fuel is not an exception. So a program with
// handlers always ends, like one without.
//
// # Reasons
//
// Run checks the stack and the fuel at every step, although programs are verified. Both checks together cost a fraction
// of a nanosecond, less than fetching the instruction. In return no []Inst can make the tracer panic or hang.
// Code.Bounded is for executors in which counting is expensive.
//
// Text is copied out of the arena when it is pushed, because another thread may replace it while it is on the stack.
//
// # Limits
//
// Every limit is a constant, the machine's in code.go, others in the package that has what they limit. Reaching one is
// a Trap or a counted loss: Arena.Lost and Arena.Traps list them all. Run trusts no program. The verifier of package
// compile proves most of what Run checks again, because a check is cheaper than reasoning about who may have made the
// instructions.
package runtime
