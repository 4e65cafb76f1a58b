// Package remote traces one target behind a GDB stub: a program under QEMU's user emulation or gdbserver, or a machine with its
// kernel under QEMU's system emulation, KGDB or a debug probe. Its Session has the methods of a native one (package engine), and the same programs
// run in it.
//
// # One hit, from start to end
//
// The target runs, and the session's goroutine waits for the stub (session.go, run; stops.go). A stop of the target stops all of
// its threads. The goroutine takes the lock, reads the registers of the thread that stopped and finds the point at its program
// counter. hit (hit.go) has the programs of the point run (package hit) in the order of declaration, completes the displaced
// instruction, runs what comes after it, commits the logs, and gives back the registers that have changed. Then the target is
// resumed, unless somebody wants it stopped. Memory that has been read is kept until then (memory.go).
//
// On ARM and AArch64 an instruction is always emulated: no stub is ever asked for a step. What an emulation cannot do, a system call or an
// access that faults, the thread does at the instruction's own place, with the breakpoint lifted and another one behind it. On
// x86 what is not emulated is stepped by the stub, that one thread alone. execute.go argues why that loses no hit.
//
// Which probes there are, and where they belong, is the business of a probes.Set, which is the same for native tracing; probe.go and
// place.go are what it asks of a stub's target.
//
// # Stopping
//
// Calls that change anything stop the target first: held asks the stub for a stop, and the goroutine, when it has dealt with
// whatever stop comes, leaves the target stopped as long as somebody wants it so. Stubs that do not look at their connection while
// the target runs, as QEMU's user emulation before version 10, let such a call wait for the next breakpoint, for up to
// stopPatience.
//
// gdbserver asks its target by a SIGINT to the whole process group. For a program that it has started that is the program; one that it was
// attached to may have others in its group, which get the signal too and have nobody who takes it from them. GDB is no better off.
//
// # What a target is
//
// A target is a machine, whose threads are its processors, when its stub tells neither an auxiliary vector nor load offsets, and
// its file's code lies in the upper half of the addresses, as kernels do. Otherwise it is a process. A machine's tasks are not
// known: pid and ppid are 0, comm is the name of the kernel's file. Symbols come from a local file, or from a list as a kernel
// shows it (symbollist.go). A process's libraries are found by way of its loader (loader.go), as files here. A file whose build-id
// is not the one in the target's memory is refused.
//
// # What cannot be
//
// Places of system calls of a process whose stub does not tell of them (gdbserver does, and QEMU's user emulation from version 9.0
// on: syscall.go; in a machine they are functions of its kernel: kernelcall.go), functions that the loader chooses (IFUNC),
// exit.stop and exit.dump, and signals to a machine. Children of a process are not traced: they are
// let go as they would be without us (child.go). Threads under QEMU's user emulation run on while one of them is stopped; the
// session ends with a reason when two have stopped at once. Watchpoints are there where the stub has them. Each is refused with its
// reason, or told once.
//
// KGDB on x86 takes no other stack pointer, and says nothing: that is found out with the first one that it is given, and instructions that
// change it are stepped from then on (execute.go); skip does nothing there. It answers only while the kernel waits for it, so that
// what stops the target waits for the next hit. A breakpoint that it was given before the kernel has made its code read-only, as it may be
// with kgdbwait, it cannot take away afterwards.
//
// The memory of a process cannot be read while Debian's kernel for 32-bit ARM runs: the stub sees what the processor would, and
// kernels shut that memory off for themselves (CONFIG_CPU_SW_DOMAIN_PAN). A text that a system call points to is then an error,
// counted as lost.
//
// # Locks
//
// One: Session.mu. It guards the target while that is stopped, and all that is known of it. It is never held while the target runs.
// Config's callbacks, and ProbeSpec.Compile, are called with it held and must not call the session.
package remote
