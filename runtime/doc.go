// Package runtime is gotap's machine: it runs compiled programs, keeps what they share, and brings what they log to the host.
//
// # One hit
//
// The engine's tracing thread owns a Machine and a Log. At a hit it calls Log.Reset, then Machine.Run for each program of
// the place. A program works on an operand stack of words; it reads the target through Context.Thread, changes objects in
// the Arena, and appends items to the Log. Run returns how the program ended: an Outcome, with a Trap when it met a limit.
// When the probed instruction has completed the engine calls Arena.Commit, which copies the Log into the ring as one Record
// and wakes the host if it sleeps. If the instruction faulted the engine calls nothing, and the log is discarded. Nothing
// on this way allocates, takes a lock or waits for another thread.
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
// An executor that runs programs elsewhere asks Code.Needs whether it can, shares the arena, and counts in the gates of
// package gate. At an operation that it cannot do it hands the program on as a State, and Machine.Resume finishes it: a
// program never runs twice. FuzzResume stops random programs at their steps and compares them with a Run.
//
// # The arena
//
// All state is in the Arena: words at offsets, in the layout that arena.go describes, without a Go pointer, so that an
// executor in another process can map the same memory and do the same. Beside it the Go side keeps only what can be worked out from it
// again, names, and the formats of records.
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
// A Machine, a Log and the storage of calls (AllocThis) belong to one thread each. Commit, Trapped and all operations on objects
// may be done by any number of threads. Next and Wait belong to one goroutine. Declare, Refine and Register take the arena's mutex;
// a Handle's reading takes the object's, for no longer than it copies a cell. The order is: object's host mutex, evictor's mutex,
// arena's mutex; no program takes the first or the last.
//
// # Exceptions
//
// A program may handle its own errors (exception.go), as DProbes' could. Its interpreter had holes: the limit on jumps could itself
// be caught, a handler that set itself again ran for ever, calls were not charged. Here every instruction takes a step, fuel
// is checked before each, and running out of it is no exception. So a program with handlers ends as surely as one without.
//
// # Reasons
//
// Why does Run check the stack and the fuel at every step, when programs are verified? Both checks together cost a fraction of a
// nanosecond, less than fetching the instruction, and in return no []Inst whatever can make the tracer panic or hang.
// Code.Bounded is for executors to which counting costs something.
//
// Why pins, and not a lock in each table? An executor may be stopped or killed at any instruction. A lock it holds stops
// everybody; a pin it holds keeps one slot from being emptied, and a slot it left busy costs one key.
//
// Why not tombstones? Keys that come and go (addresses of blocks, thread ids) would fill a table with them, and cleaning up needs a
// moment when nobody looks. With a reach for each home, a slot is free the moment its key is gone.
//
// Why is text copied out of the arena when it is pushed? Another thread may replace it while it is on the stack.
//
// Why are aggregations without keys not tables of one slot? count, sum and histograms need one atomic addition at a fixed
// offset, which is what native code can do best. Kinds of two words have banks instead, so that an average is never torn.
//
// # Limits
//
// Every limit is a constant in code.go, and meeting one is a Trap or a counted loss: Lost and Traps list them all. Run trusts no
// program: the verifier of package compile proves most of what Run checks again, because a check costs less than an argument
// about who may have made the instructions.
package runtime
