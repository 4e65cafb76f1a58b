// Package engine places probes into running processes and runs their programs there.
//
// # Threads
//
// A session has one tracing thread (loop.go): a goroutine locked to an operating-system thread for life, because the kernel
// takes requests about a tracee only from the thread that seized it. It alone touches processes, threads, points and
// probes; they need no locks. Other goroutines post closures to it, and wait for them (Session.do). What they may use
// directly has a lock of its own: the resolver's answers, a probe's placements, the history of modules. Those locks
// are leaves: nothing else is locked, and no closure posted, while one is held. Config's callbacks run on the tracing thread and must
// not call the session.
//
// # One hit, from start to end
//
// A thread of the target runs into a breakpoint and stops. Wait4 tells (loop.go); dispatch (stop.go) finds the thread, reads its
// registers and looks up the point before the program counter. hit (hit.go) has the programs of the point's placements run (package hit) in
// the order of declaration; what they log is kept. Then the displaced instruction is completed: emulated on the
// registers just read, which costs nothing more, or stepped out of line or in place (step.go). When it has completed,
// programs that come after it run, the logs are committed, the registers are written and the thread is resumed. A fault
// instead throws the logs away and is delivered as if the instruction had been at its own place. With an emulated instruction that is
// wait4, GETREGS, SETREGS, CONT, without an allocation, a lock or a map look-up by string.
//
// # What is where
//
// A probe (package registry) is logical: what a user asked for. A placement is a probe at one place of a file, compiled for it
// once, whatever process maps the file. A point (point.go) is physical: an address of an address space, with one breakpoint for all
// its placements. Processes that share memory share its points; a forked child gets copies. Modules that are mapped later are found
// through the dynamic loader (modules.go), and armed then (package arming). Calls are watched for leave handlers without touching the
// target's stack (package retprobe; target.go). The list of probes, and what users ask of it, is a probes.Set, which is the same for remote
// stubs; probe.go and arm.go are what it asks of the session. System calls, data and static marks have files of their own (syscalls.go,
// watch.go, special.go).
//
// # Other processors
//
// What depends on the instruction set is data of package isa; what the kernel's interface to it adds is in a description of each
// ABI (abi.go, abi_x86.go, armabi.go); only files that make requests to the kernel are for one processor. On x86 an instruction
// that is not emulated is stepped. On ARM, 32-bit and 64-bit, nothing ever is: emulator.go completes every instruction in the stop
// of its breakpoint, with the vector registers where it needs them, so a hit is one stop. Three things take more. A system call at
// a probed place is made by the thread through another instruction of the kind (armcall.go): its entry and its end are seen. What
// the emulation cannot do, above all an access that faults, is run at its own place with a breakpoint behind it (athome.go). A
// watchpoint stops in front of an access, which is emulated then (armwatch.go). Code is written with the threads held (pause.go).
//
// What ARM processes do not have: instructions that sign and authenticate pointers are run at their own place where the machine
// does that, and those on vector registers in threads that use the scalable registers above them (scalable.go). Instructions
// between a load-exclusive and its store-exclusive are refused. In stops at system calls x7, or r12 of 32-bit ARM, shows 0 or 1. A call that was already in the
// kernel when its instruction was probed, and that a signal restarts, counts as a hit.
//
// # What could harm a target, and where it is argued that it does not
//
//   - writing breakpoints while threads run: Session.sync in point.go
//   - writing many at once: together.go
//   - running an instruction elsewhere, and signals that arrive meanwhile: type step in step.go
//   - memory mapped into the target: slotPool in slot.go; system calls made in it: inject.go
//   - children and threads that the session does not follow: options in fork.go
//   - children whose makers are killed before they can tell of them: orphan.go; those for which no file can be opened: reserve.go
//   - children that debuggers want to trace: surrender.go
//   - targets whose system calls are filtered, as in containers: confined.go
//   - the target's own handler for SIGTRAP: trapaction.go, and trapwatch.go, which sees it set
//   - system calls that a stop of ours interrupts: repairCall in step.go
//   - letting go: detach.go
//   - signal masks, SIGTRAP in which stays unblocked: sigmask.go
//   - a session that is killed: guard.go and package fallback; what one has left behind: takeover.go, padding.go, clean.go
//
// A panic on the tracing thread is a mistake in this package; it ends the session by undoing everything, and Wait and Close
// return it.
package engine
