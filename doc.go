// Package gotap traces programs from Go: it runs a script on a command or on running processes, as `gotap run` does,
// which is built on it. Run is the whole of it in one call; a Session is for programs that change a run while it lasts.
//
//	result, err := gotap.Run(ctx, gotap.Script{Name: "opens.js", Text: text}, gotap.Options{
//		Pids:  []int{pid},
//		Event: func(e gotap.Event) { log.Println(e.Probe, e.Pid, e.Fields) },
//	})
//
// docs/go.md has complete programs.
//
// It needs Linux and the permission to trace the targets with ptrace(2), or a GDB stub (Options.Remote).
//
// # A session, from start to end
//
//	Open   loads and compiles the script
//	Arm    starts COMMAND or attaches to processes, places the probes, runs the begin callbacks
//	Start  lets the targets run
//	Wait   returns when the targets have ended, the script stops the session, or the context is done
//	Close  takes the probes out, runs the end callbacks, and returns the Result
//
// Close is called once, in any state, also after an error; nothing of the session is left in the targets then. A
// session that is killed (SIGKILL) cannot do that: `gotap clean PID` can.
//
// # Without a target
//
// Check compiles and verifies what Open would load, and Build makes a prebuilt file of it.
//
// # Concurrency
//
// Open, Arm, Start, Wait and Close are called one after the other. The other methods are safe for concurrent use
// between Arm and the return of Wait. The script's callbacks, Options.Output, Options.Event and Options.Print run on
// one goroutine, the script's host. The functions of Hooks run on another one, except where they say otherwise. Neither
// is the tracing thread: a function that takes long holds no target up, but what does not fit in the ring meanwhile is
// lost, and counted. Functions must not call methods of the session, except Stop.
//
// The script runs in a JavaScript machine of its own, with limits on time and memory (package script); a script that
// cannot be interrupted ends the session.
//
// # Errors
//
// An Error has a Kind: a bad script, a target that cannot be traced, no place for any probe, or a failure at run time.
// Errors about the script match Diagnostics with errors.As: each Diagnostic has a position, and a hint where there is
// one.
//
// # Units
//
// Times of events are nanoseconds of CLOCK_MONOTONIC, sizes are bytes, Options.Budget is a share from 0 to 1.
package gotap
