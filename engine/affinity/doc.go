// Package affinity keeps a session and its target on one CPU where the target cannot notice it.
//
// A stop takes two switches: from the target to the tracing thread, and back. On one CPU they are two context switches,
// about 5 µs. Between two CPUs each of them wakes a CPU that may be asleep, about 40 µs in all. The kernel's scheduler
// spreads the two, because it sees two threads that run. The tracing thread alone cannot follow the target: the target
// is woken while the tracing thread still runs, so the kernel moves the target away. So both are pinned to the CPU that
// the target is on: together, in the words of this package. Apart, each runs where the kernel puts it.
//
// # Threads
//
// Only the tracing thread of the session uses a Keeper, except that files are searched for system calls by goroutines
// of their own. Stopped may be called after any stop has been handled. Called runs in the stop of a hit, before the
// system call. Added, Replaced, Gone and Apart may be called at any time, whether threads run or not: setting a mask
// stops no thread.
//
// # From start to end
//
// Stops are counted in windows. After two windows with many stops in succession the two are joined, if these hold:
//
//   - The session traces one thread, of a process with one thread. Two threads that take turns on one CPU would be slower.
//   - Both may run on the same CPUs, more than one. So nobody has chosen other CPUs for the target, and nobody will
//     miss one.
//   - Both have an ordinary scheduling class, and the target does not have precedence. A real-time target would keep
//     the tracing thread, and so itself, from running.
//   - The program cannot read or change its CPUs unseen: breakpoints are on all places in its code that may do so
//     (sites.go). Before the program makes such a call, the two are separated, so the program reads what it would read
//     without gotap.
//   - The target has the crash handler (package crashsafe), and no filter of system calls that the handler could violate.
//
// About every second the two are separated for a few stops and joined again: the kernel moves a target that has to
// share its CPU with others, and that CPU is taken. They are separated for good if the program sets its CPUs, or reads
// them again and again; if someone else changes them, whose choice stays; or if watching the calls costs more than it
// gains. They are separated until the conditions hold again when stops get rare, when a thread or child is created,
// when another process is attached to or launched, when the program executes another one, when it opens a library, and
// at the end of the session.
//
// # Why it harms nothing
//
// A child or thread that is created meanwhile inherits the mask. It gets its creator's former mask before it runs
// anything: it stops first, and the session takes it in (Added). A program that is executed runs with its own mask from
// its first instruction (Replaced). A mask is put back only if it is still the one that was set. A mask that nobody had
// set is put back as such (package cpumask).
//
// The session may be killed at any moment. The masks are recorded in the crash handler's region before they are set and
// until they are put back. The supervisor, `gotap clean` and the next session read that record; the handler does when
// the target reaches a breakpoint that was left, also one that watches a system call. A program that reads its CPUs
// after the session was killed hits such a breakpoint first.
//
// # What it does not help against
//
//   - A program that reads Cpus_allowed in /proc/self/status, as libnuma does when it is loaded, or calls the kernel
//     from code that it generates itself or with int 0x80, sees one CPU while the two are together. So do other
//     processes that look at the target.
//   - A process that pins the target to the very CPU to which it is pinned already: the kernel does not tell the two
//     apart, and the former mask is put back at the end.
//   - A session that is killed between the creation of a child or thread and the stop that reports it: the child keeps
//     the mask until it hits a breakpoint that was left, or until `gotap clean` is called with its number.
//   - A session that is killed together with its supervisor: the target stays on its CPU until it hits a breakpoint or
//     `gotap clean` is called. A target that creates threads with clone(2) itself before that leaves them there; the C
//     library's functions for this have breakpoints.
package affinity
