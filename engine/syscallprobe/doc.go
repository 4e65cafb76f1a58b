// Package syscallprobe is the probes on system calls, for everything that can stop a thread at the entry and the end of
// its calls: native tracing does it with PTRACE_SYSCALL, remote stubs with QCatchSyscalls. Probes is the list of them,
// for one session; Calls is what one thread does (Thread).
//
// # One call, from start to end
//
// Probes.Add compiles a probe once for each system call that its specification names. The kernel gives the number of a
// call and a table the name, so that one probe serves 64-bit and 32-bit processes (Convention).
//
// When a thread stops at the entry of a call, the back end calls Calls.Entered: the programs of the probes on that
// number run, and their leave handlers wait. When it stops at the end, Calls.Left runs those.
//
// # Calls that a signal interrupts
//
// The kernel ends such a call with one of its own restart codes (ERESTARTSYS and related ones), and decides when it
// delivers the signal. Without a handler the call is made again, and the program does not notice: neither do its
// probes. With a handler, the handler runs first. When it has returned, the call is either made again (SA_RESTART) or
// has failed with EINTR. The registers show which, at the end of the handler's sigreturn: they are those of the
// interrupted call, and its program counter is before the instruction, or after it with EINTR as the result. Meanwhile
// the handler makes calls of its own, so the interrupted one waits in a list. Handlers may be interrupted too; the
// innermost call is the last.
//
// A back end that sees only the calls it has asked for has to ask for those with which interrupted ones continue, while
// Calls.Interrupted reports that there are any (Probes.Numbers). At the end of a handler's sigreturn the kernel no
// longer knows that call's number, so it has to ask for all calls while Calls.Returning reports that this end is the
// next to come.
//
// A handler that leaves by longjmp never returns. Its call is dropped when the next one is interrupted at the same
// place of the stack or above, or when the list is full: handlers are hardly ever nested more deeply than that.
//
// # Threads
//
// Probes and Calls are used only where the back end may change its processes, and its threads are stopped.
package syscallprobe
