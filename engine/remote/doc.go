// Package remote traces one target behind a GDB stub: a program under QEMU's user emulation or gdbserver, or a
// machine with its kernel under QEMU's system emulation, KGDB or a debug probe. Its Session has the methods of a
// native one (package engine), and the same programs run in it.
//
// # One hit, from start to end
//
// The target runs, and the session's goroutine waits for the stub (session.go, run; stops.go). A stop of the target
// stops all of its threads. The goroutine takes the lock, reads the registers of the thread that stopped and finds
// the point at its program counter. hit (hit.go) runs the programs of the point (package hit) in the order of
// declaration, completes the displaced instruction, runs the programs that come after it, commits the logs, and
// writes back the registers that have changed. Then the target is resumed, unless some caller wants it stopped.
// Memory that has been read is cached until then (memory.go).
//
// On ARM and AArch64 an instruction is always emulated: no stub is ever asked for a step. What an emulation cannot
// do, a system call or an access that faults, the thread does at the instruction's own address, with the breakpoint
// lifted and another one behind it. On x86 the stub steps what is not emulated, in that one thread alone.
// execute.go argues why that loses no hit.
//
// The probes and their places are managed by a probes.Set, which is the same for native tracing; probe.go and
// place.go are what it asks of a stub's target.
//
// # Stopping
//
// Calls that change anything stop the target first: held asks the stub for a stop, and the goroutine, when it has
// handled whatever stop comes, leaves the target stopped as long as some caller wants that. Stubs that do not read
// their connection while the target runs, such as QEMU's user emulation before version 10, make such a call wait
// for the next breakpoint, for up to stopPatience.
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
// from a local file, or from a list as a kernel shows it (symbollist.go). A process's libraries are found through
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
// There is one lock: Session.mu. It guards the target while the target is stopped, and all state about it. It is
// never held while the target runs. Config's callbacks, and ProbeSpec.Compile, are called with it held and must not
// call the session.
package remote
