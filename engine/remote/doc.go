// Package remote traces one target behind a GDB stub: a program under QEMU's user emulation or gdbserver, or a
// machine with its kernel under QEMU's system emulation, KGDB or a debug probe. Its Session has the methods of a
// native one (package engine), and the same programs run in it.
//
// # Parts
//
// A session is made of these parts, each with its own state:
//
//   - control.Control (package control): run control. It decides when the target runs, and has the session's lock.
//   - rsp.Client (package rsp): the connection, in the stub's protocol; clean.go uses it without a session.
//   - stub (stub.go, signing.go): the connection, with what is known of the stub and of the processor behind it.
//   - memory.Memory (package memory): the target's memory, cached while the target is stopped.
//   - program (program.go, kernelcall.go): the target's file and libraries, and where they are loaded.
//   - loader (loader.go): the watch on the dynamic loader, which reports new libraries.
//   - breakpoints (breakpoints.go, prepare.go): the points (point.go), and their breakpoints in the target. They are
//     the session's executor (package executor; executor.go).
//   - watchpoints (watch.go; package watchpoint) and syscalls (syscall.go; package syscallprobe): the probes that are
//     no breakpoints.
//   - threads (threads.go): the threads that have stopped so far. Each thread (thread.go, hit.go, execute.go) has a
//     register.File (package register) and a view (view.go; package stopped), which is what programs may know of it.
//   - stops (stops.go): what a stop of the target means. child.go handles those of children and new programs.
//   - reporter (report.go): the callbacks of the configuration.
//
// inspect.go examines the target when the session is opened. The probes and their places are managed by a probes.Set,
// which is the same for native tracing; probe.go and place.go are what it asks of a stub's target. A kernel's list of
// symbols is read by package symbollist.
//
// # One hit, from start to end
//
// The target runs, and the goroutine in Control.Run waits for the stub. A stop of the target stops all of its threads.
// The goroutine takes the lock and calls stops.Stopped. That forgets what was known of the memory, finds the thread
// that stopped, reads its registers, and decides what the stop means: for a breakpoint it calls thread.trap.
//
// trap asks the breakpoints which point was hit and corrects the program counter. hit runs the programs of the point
// (package hit) in the order of declaration, unless the instruction is only tried again (stops.takeRetry). A program
// gets its arguments, the target's memory and the stack from the view; a leave handler is due when the call returns to
// a point of its own (package retprobe). Then execute completes the displaced instruction. finish runs the programs
// that come after it, commits the logs, and writes back the registers that have changed. Back in Control.Run, the
// target is resumed, unless some caller wants it stopped or a program holds it.
//
// On ARM and AArch64 an instruction is always emulated: no stub is ever asked for a step. What an emulation cannot
// do, a system call or an access that faults, the thread does at the instruction's own address, with the breakpoint
// lifted and another one behind it. On x86 the stub steps what is not emulated, in that one thread alone.
// execute.go argues why that loses no hit.
//
// # Stopping
//
// Calls that change anything stop the target first (Session.held): Control.WhileStopped asks the stub for a stop, and
// the goroutine, when it has handled whatever stop comes, leaves the target stopped as long as some caller wants that.
// Stubs that do not read their connection while the target runs, such as QEMU's user emulation before version 10, make
// such a call wait for the next breakpoint, for ten seconds at most. A processor of an ARM machine that has stopped in
// a program does not see the kernel's memory, so it runs on until it has stopped in the kernel (usermode.go).
//
// gdbserver stops its target with a SIGINT to the whole process group. For a program that gdbserver started, that
// is the program. A program that it was attached to may have other processes in its group, which get the signal
// too, and no tracer suppresses it for them. GDB has the same problem.
//
// # What a target is
//
// A target is a machine, whose threads are its processors, if its stub reports neither an auxiliary vector nor load
// offsets, and its file's code lies in the upper half of the addresses, as that of kernels does. Otherwise it is a
// process. A machine's tasks are not known: pid and ppid are 0, comm is the name of the kernel's file. Symbols come
// from a local file, or from a list as a kernel shows it (package symbollist). A process's libraries are found through
// its loader (loader.go), as local files. A file whose build-id differs from the one in the target's memory is
// refused.
//
// # Limits
//
// These are not supported: places of system calls of a process whose stub does not report them (gdbserver does, and
// QEMU's user emulation from version 9.0 on: syscall.go; in a machine they are functions of its kernel:
// kernelcall.go), functions whose implementation the loader selects (IFUNC), exit.stop and exit.dump, and signals
// to a machine. Children of a process are not traced: they are released to run as they would without us (child.go).
// Threads under QEMU's user emulation keep running while one of them is stopped; the session ends with a reason
// when two have stopped at once. Watchpoints exist where the stub has them. Each of these is refused with its
// reason, or reported once.
//
// KGDB on x86 ignores a changed stack pointer, without an error. The session detects that with the first one that
// it writes; from then on, instructions that change the stack pointer are stepped (execute.go), and skip has no
// effect. KGDB answers only while the kernel waits for it, so an operation that stops the target waits for the next
// hit. A breakpoint that KGDB was given before the kernel made its code read-only, as is possible with kgdbwait,
// cannot be removed by it afterwards.
//
// The memory of a process cannot be read while Debian's kernel for 32-bit ARM runs: the stub sees what the
// processor would see, and kernels block their own access to that memory (CONFIG_CPU_SW_DOMAIN_PAN). A text that a
// system call points to is then an error, counted as lost.
//
// # Locks
//
// There is one lock: that of Session.control. It guards the target while the target is stopped, and all parts of the
// session. It is not held while the target runs, except for one displaced instruction (execute.go) and for the short
// moments of Control.RunUntil. Config's callbacks, and ProbeSpec.Compile, are called with it held and must not call the
// session.
package remote
