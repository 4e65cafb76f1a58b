// Package inline puts native code into a process, and jumps that lead to it, so that the programs of a probe run
// without a stop.
//
// What the code does is the business of the packages below runtime/native, where a jump fits that of package
// engine/image/module. Here is what changes the process: memory for the code, the jumps, and the word that enables
// them. Package engine decides which places get a jump, and when.
//
// # Threads
//
// Only the tracing thread of a session uses Target, Island, Insert, Remove and Ranges, except that a session which
// cleans up after another one uses Find and Left. Nothing here has a lock.
//
//   - Target needs a stopped thread, between two instructions and with its registers read (package inject). The other
//     threads may run.
//   - Island.Add may be called while threads run: nothing leads to the stub yet.
//   - Insert needs the threads that run code to be stopped, and Ranges.Parked to have found none behind the first byte
//     of a place. Threads that sleep in the kernel may sleep on.
//   - Remove may be called while threads run.
//   - Jump.Undo needs the threads that run code to be stopped.
//   - Enable is called on the tracing thread, which is locked to its thread of the operating system for good. Disable
//     and Disabled may be called on any thread.
//
// # One place, from breakpoint to jump and back
//
// The place has a breakpoint. A thread hits it. Target.Map makes this thread map an island near the place, unless there
// is one, and the session's arena behind it, or within 1 GiB where jumps do not reach so far: the memory that programs
// share (package runtime/arena). Island.Add writes the stub, with an entry in the island's table. Insert writes the
// jump: the breakpoint stays in the first byte while the other four change.
//
//	55 48 89 e5 53    the code
//	cc 48 89 e5 53    a breakpoint: hits stop their threads
//	cc r0 r1 r2 r3    Insert: a thread that comes here stops, and runs the place again after the change
//	e9 r0 r1 r2 r3    the jump: hits stop nothing
//
// On 64-bit ARM one write turns the breakpoint into the jump, because both are one instruction (swap.go).
//
// Where five bytes do not fit, a jump of two bytes (eb) may. It leads to a springboard: a jump of five bytes to the stub,
// in padding that no thread executes. Insert writes the springboard first. Remove leaves it, because a thread may be
// between the two jumps; Springboard.Restore puts the padding back when none can be.
//
// Remove takes the same steps backwards, and leaves the breakpoint. Package engine then restores the first byte, as it
// does for all breakpoints. The memory of a stub is not used again, because a thread may be in it or return to it. At
// the end of the session Target.Unmap unmaps island and arena if no thread is there.
//
// # The island
//
// An island is 4 MiB of private memory that the process may read and execute. The kernel reserves pages for it as they
// are written. It begins with a magic number and a table that says, for each place, which bytes its jump displaces. So
// a later session, the supervisor and `gotap clean` can restore the code without the session that wrote the jumps
// (Find, Left.Jumps, Jump.Undo). island.go has the layout. A process has one island for all code within 1 GiB;
// libraries that are farther away from each other have an island each.
//
// The arena is a file in memory, without a name. Its descriptor is handed over through a socket pair that the target
// makes (handover.go). When the file has been mapped, all descriptors are closed. The mapping is left out of core
// dumps.
//
// # A session that is killed
//
// A stub looks at the control word in the arena before it runs a program. It is the number of the tracing thread, as a
// robust futex of that thread: when the thread ends, however it ends, the kernel clears the number (control.go). From
// then on the stubs only run the displaced instructions, so the process goes on at full speed, and a dead session
// counts nothing. The jumps stay until the supervisor, a later session or `gotap clean` restores the code.
//
// If the session is killed while it writes a jump, the first byte is a breakpoint. The table of the crash handler
// (package fallback) has had all bytes of the jump since before Insert began; the handler restores them, the first one
// last. It leaves springboards, which nothing leads to then.
//
// # Why executable memory is sound
//
// An island is never writable and executable in the process: the kernel writes it for the tracer, as it writes
// breakpoints. The code in it calls nothing and cannot leave the stub except to the place and to what the displaced
// instructions themselves refer to. Its input is a plan that native.PlanOf has followed to its end. Programs that
// change the target are refused.
//
// The arena is writable in the process, and other processes of the session map the same file. A process that writes to
// addresses at random can change the values of probes. It cannot change what the tracer executes: the arena
// holds words at offsets, no code and no addresses.
//
// # Why unsafe is sound
//
// Enable hands addresses of Go memory to the kernel, which reads them when the thread ends. The list is allocated once,
// is reachable through keptLists for good, and Go's heap does not move objects. It replaces the list of the C library,
// if there is one; gotap uses no robust mutexes. The control word is in the arena. If that has been unmapped, the
// kernel finds nothing at the address and stops; memory mapped there later is only changed if it holds the number of
// this very thread. A Go runtime with robust futexes of its own, or with a heap that moves objects, would break this.
//
// # Files
//
//	form.go      what differs between processors
//	control.go   the word that enables the stubs
//	handover.go  memory in the target: island and arena
//	island.go    layout of an island
//	jump.go      a jump, and the springboard that it may lead to
//	left.go      what is found of an island after its session
//	site.go      where a jump can be written, as far as the file tells
//	gosite.go    the same for functions of Go, and why it is sound
//	swap.go      writing and removing jumps
//	parked.go    threads that would continue in the middle of the bytes that change
package inline
