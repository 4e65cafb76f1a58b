// Package probes is the probes of a session while it traces: they are added, enabled, disabled, exchanged and removed,
// and asked about. It is the same for native tracing and for remote stubs, which implement Tracer. A Set knows no
// breakpoints, threads or packets: it sees points (package retprobe), which plant themselves.
//
// # Adding a probe, from start to end
//
// Set.Add makes a probe of its specification (package registry) and prepares it in a snapshot of the processes (package
// locate): places are found and programs compiled while the targets run, where the back end can do that. Then, where
// the tracer may change its processes (Tracer.Do), the probe joins the list, is armed in every process (package
// arming). System calls, watchpoints and semaphores are added to the lists of packages syscallprobe and watchpoint,
// which the tracer then follows (nonbreakpoint.go). All breakpoints are planted in one stop (Tracer.Together). When any
// of it fails nothing of the probe stays.
//
// When a process replaces its program meanwhile, all of it is done again for the program that it then runs.
//
// # Other operations
//
// Prepare begins an Exchange of probes (exchange.go), which is made between two hits. Begin arms the part of a probe
// that a program's first moments need, before its libraries are mapped (begin.go).
//
// # Threads
//
// The methods that users call (Add, Begin, Prepare, Enable, Disable, Remove, Query, and those of Exchange) may be
// called from any goroutine, but not from the session's callbacks. All others are for the back end, and run where
// Tracer.Do runs its functions.
package probes
