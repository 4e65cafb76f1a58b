// Package arming puts probes at their places in processes: it decides which targets of a probe lie in which modules,
// and which errors matter. How a breakpoint is written is the back end's business (Process).
//
// # Arming a probe, from start to end
//
// Armer.Probe takes a probe that is prepared (package locate), a process, and the modules to be armed: all of them, or
// those that have just appeared. It lists the probe's targets, and for each module that maps the target's file there it
// attaches the probe's placement to the point at the target's address (Process.Attach). Targets that are not plain code
// are the back end's (Process.ArmSpecial).
//
// A place that a pattern matched and that cannot be probed is left out, and noted with the probe. A place that was
// named outright is an error. An error that every further place would meet, as the limit on points, ends the work.
//
// # Threads
//
// Armer's methods run where the back end may change its processes: on the tracing thread, or while the target is
// stopped.
package arming
