// Package runtime is gotap's machine: it runs compiled programs, stores their shared state, and sends what they log to
// the host.
//
// # One hit
//
// The engine's tracing thread owns a Machine and a Log. At a hit it calls Log.Reset, then Machine.Run for each program
// of the place. A program works on an operand stack of words; it reads the target through Context.Thread, changes
// objects in the Arena, and appends items to the Log. Run returns how the program ended: an Outcome, with a Trap if it
// reached a limit. After the probed instruction has completed, the engine calls Arena.Commit, which copies the Log into
// the ring as one Record and wakes the host if it sleeps. If the instruction faulted, the engine does not call Commit,
// and the log is discarded. Nothing in this path allocates, takes a lock or waits for another thread.
//
// The host, one goroutine, loops over Arena.Next and Arena.Wait. It reads and changes objects through Handles, at any time.
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
// # The arena
//
// All state is in the Arena: words at offsets, in the layout that arena.go describes, without a Go pointer, so that an
// executor in another process can map the same memory and do the same. Besides the arena, the Go side keeps only what
// can be recomputed from it, names, and the formats of records.
//
//	Object     file         safe under concurrency by
//	variables  state.go     one atomic operation
//	cells      cell.go      atomic additions; two-word cells without keys have two banks that the host switches (storage.go)
//	tables     table.go     pins in the slots' state words
//	texts      textcell.go  a version that is odd while the text changes
//	ring       ring.go      reservation by compare-and-swap, commitment by the last store
//	trails     trail.go     belonging to one thread, found in a table
//	recorders  recorder.go  a sequence number and a state word for each record
//	log        log.go       belonging to one thread
//	gates      gate/        one atomic operation
//
// # Threads and locks
//
// A Machine, a Log and the storage of calls (AllocThis) belong to one thread each. Any number of threads may call
// Commit and Trapped and operate on objects. Only one goroutine may call Next and Wait. Declare, Refine and Register
// take the arena's mutex. A Handle's read takes the object's mutex only while it copies a cell. The lock order is:
// object's host mutex, evictor's mutex, arena's mutex. No program takes the first or the last.
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
// Tables use pins, and not a lock for each table, because an executor may be stopped or killed at any instruction. A
// lock that it holds would stop everybody. A pin that it holds prevents one slot from being emptied, and a slot that it
// left busy costs one key.
//
// Tables have no tombstones. Short-lived keys (addresses of blocks, thread IDs) would fill a table with them, and a
// cleanup needs a moment without readers. With a reach for each home, a slot is free as soon as its key is deleted.
//
// Text is copied out of the arena when it is pushed, because another thread may replace it while it is on the stack.
//
// Aggregations without keys are not tables of one slot: count, sum and histograms need one atomic addition at a fixed
// offset, which suits native code best. Kinds of two words have banks instead, so that an average is never torn.
//
// # Limits
//
// Every limit is a constant in code.go, and reaching one is a Trap or a counted loss: Lost and Traps list them all. Run
// trusts no program. The verifier of package compile proves most of what Run checks again, because a check is cheaper
// than reasoning about who may have made the instructions.
package runtime
