// Package executor is the contract of the ways in which programs run at a place, and what they share.
//
// A session knows places and programs; an Executor makes the programs of a place run. Native tracing and remote stubs
// each have one that plants a breakpoint and interprets the programs in the stop (breakpoint.go in package engine and
// in package remote). An executor that runs programs in the target, without a stop, is another one: it implements
// Executor in a package of its own, and stands before the breakpoint in its back end's List.
//
// # A place, from start to end
//
// A back end makes a place for an address, which embeds a Spot, with Prepare, which decodes the instruction there,
// compares it with the file and says why it cannot be probed, if so. The place's owners (package retprobe) say whether
// its programs are wanted. When they are, the back end asks its List which executor is the first to fit, and installs
// the place: alone, or together with others of the same address space. When the owners of an installed place change, it
// calls Replace. When no owner needs the place any more, it calls Remove. At the end of a session it calls Verify for
// what was removed.
//
// A place has one executor at a time. Its programs run in the order of its owners, whatever executes them. For a
// function with a leave handler, Body finds where it is left.
//
// # Threads
//
// Places and executors may be used only where the target may be changed: on the tracing thread, or with the session's
// lock held. Prepare and List need no lock: they change nothing.
package executor
