// Package engine places probes in running processes and runs the probes' programs there.
//
// # Threads
//
// A session has one tracing thread (package tracingthread; loop.go has its body): a goroutine locked to one
// operating-system thread for its whole life, because the kernel accepts requests for a tracee only from the thread
// that seized it. Only the tracing thread touches processes, threads, points and probes; they need no locks. Other
// goroutines post closures to it and wait for them (Session.do). The data that other goroutines may use directly has
// its own locks: the resolver's answers, a probe's placements, the history of modules. Those locks are leaves: while
// one is held, no other lock is taken and no closure is posted. Config's callbacks run on the tracing thread and must
// not call the session.
//
// # One hit, from start to end
//
// A thread of the target runs into a breakpoint and stops. Wait4 reports the stop (loop.go); dispatch (stop.go)
// finds the thread, reads its registers and looks up the point before the program counter. hit (hit.go) runs the
// programs of the point's placements (package hit) in the order of declaration and keeps what they log. Then the
// displaced instruction is completed: it is emulated on the registers just read, which needs no further request, or
// run on the processor (package stepping). When it has completed, the programs that come after it run, the logs
// are committed, the registers are written and the thread is resumed. If the instruction faults instead, the logs
// are discarded and the fault is delivered as if the instruction had been at its own address. For an emulated
// instruction this is wait4, GETREGS, SETREGS, CONT, without an allocation, a lock or a map look-up by string.
//
// # A hit without a stop
//
// With Config.Engine Inline or Mixed the executor of a place is package trampoline, if it fits: the place gets a jump
// to native code in the target, and its hits are not seen here. At doorbells it stops, and the interpreter goes on.
//
// # A session's parts
//
// A Session is made of parts, each with a state that only its own methods change: stops waits for tracees (stops.go);
// stopWorld stops threads and is the only one that does (stopworld.go); space.Patcher makes points, chooses the
// executor of each (package executor) and is the only one that writes breakpoints; otherProbes are those that a
// breakpoint alone does not serve (special.go, syscalls.go, watch.go; packages syscallprobe and watchpoint);
// sampling.Sampler looks at threads once in a period; loading follows the dynamic loader (modules.go, ifunc.go);
// launching starts programs (launch.go, package command); arrivals takes in new threads and processes (fork.go,
// unannounced.go); guards keeps targets able to survive the session (package crashsafe, protect.go); throttle keeps to
// the budget (package throttle, resting.go); affinity shares a CPU with the target (package affinity, affinityhost.go);
// lifecycle leads from the start to the end (detach.go).
//
// So is a thread. Its state is a value of package threadstate, whose page has the table of legal changes. Its parts are
// stepping and emulation, which complete instructions (packages of these names), what programs see of it (packages view
// and stopped), native code (package trampoline), calling (syscalls.go, package syscallprobe), watches (watch.go,
// package watchpoint) and protection (protect.go). Parts in packages of their own share what ptrace shows of the thread
// (package tracee): sigqueue.Queue keeps signals from it, inject.Caller makes it call the kernel, crashsafe.Thread
// knows of its SIGTRAPs. What they need of the session is in threadhost.go, viewhost.go, sessionhost.go, patchhost.go
// and trampolinehost.go.
//
// # What is where
//
// A probe (package registry) is logical: what a user asked for. A placement is a probe at one place of a file, compiled
// for that place once, for all processes that map the file. A point (space.Point) is physical: an address of an address
// space, with one breakpoint for all its placements, or one jump. Processes that share memory share its points; a
// forked child gets copies. Modules that are mapped later are found through the dynamic loader (modules.go) and armed
// then (package arming). Calls are watched for leave handlers without touching the target's stack (package retprobe).
// The list of probes, and what users ask of it, is a probes.Set, which is the same for remote stubs, with its probes on
// system calls, data and static marks; probe.go and arm.go are what it asks of the session.
//
// # What is left here
//
// What can be said about a thread, an address space or a probe without the session has a package of its own. Here is
// what changes several of them in one stop: a thread's state, the points of its address space and the session's lists,
// in an order that matters if the session is killed in between.
//
// # Other processors
//
// Only x86-64 programs run without a stop: package trampoline refuses others. Nothing else here depends on it.
//
// What depends on the instruction set is data of package isa. What the kernel's interface adds to it is in the
// description of each ABI (package abi). Only files that make requests to the kernel are specific to one processor.
// On x86 an instruction that is not emulated is stepped. On ARM, 32-bit and 64-bit, nothing is ever stepped:
// package stepping completes every instruction in the stop of its breakpoint, with the vector registers if it needs
// them, so a hit is one stop. Three cases take more. The thread makes a system call at a probed place through
// another instruction of the same kind; the call's entry and its end are seen. What the emulation
// cannot do, above all an access that faults, runs at its own address with a breakpoint behind it. A
// watchpoint stops before an access, which is then emulated (watch.go). Code is written while the threads are
// held (stopworld.go).
//
// ARM processes have these limits. Instructions that sign and authenticate pointers run at their own address on
// machines that do that, and so do instructions on vector registers in threads that use the scalable registers
// above them (package tracee). Instructions between a load-exclusive and its store-exclusive are refused. In stops at
// system calls x7, or r12 on 32-bit ARM, shows 0 or 1. A call that was already in the kernel when its instruction
// was probed, and that a signal restarts, counts as a hit.
//
// # What could harm a target, and where it is argued that it does not
//
//   - writing breakpoints while threads run: Patcher.Sync in package space
//   - writing many at once: together.go in package space
//   - writing jumps, which are longer than a breakpoint: package inline (swap.go) and promote.go in package trampoline; threads and signal handlers that would
//     return behind the first byte: parked.go in package inline
//   - code that leads into the bytes that a jump replaces: window.go in package image/module
//   - native code, which changes the registers and flags that it saves, and no memory but the arena: package runtime/native/amd64
//   - doorbells and faults in native code: doorbell.go and stubfault.go in package trampoline
//   - reads of native code that fault, with the signal ignored or blocked: reads.go and readfault.go in package trampoline
//   - jumps that a killed session leaves: control.go and island.go in package inline
//   - running an instruction elsewhere, and signals that arrive meanwhile: type step in package stepping
//   - memory mapped into the target: Slots in package space; system calls made in it: package inject
//   - children and threads that the session does not follow: options in fork.go
//   - children that are created while their parents block SIGTRAP: Patcher.SettleChild in package space
//   - children whose parents are killed before they can report them: unannounced.go; children for which no file can be
//     opened: reserve.go
//   - children that debuggers want to trace: traceme.go
//   - targets whose system calls are filtered, as in containers: filters.go in package inject
//   - signals that arrive while a thread is in a step: package sigqueue
//   - the target's own handler for SIGTRAP: action.go in package crashsafe, and hooks.go, which sees it being set
//   - system calls that one of our stops interrupts: RepairCall in package stepping
//   - threads that hit probes faster than their stops are handled, while others wait: package turns
//   - detaching: detach.go
//   - signal masks, in which SIGTRAP stays unblocked: mask.go in package crashsafe
//   - the CPUs of the target, which the session may set: package affinity
//   - a session that is killed: packages crashsafe and fallback; what such a session left behind: takeover.go and
//     clean.go in package crashsafe
//
// A panic on the tracing thread is a bug in this package. It ends the session and undoes everything; Wait and Close
// return it.
package engine
