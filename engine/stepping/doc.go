// Package stepping completes the instruction under a breakpoint on the processor: as a copy elsewhere or in place, at
// its own address on ARM, or as a system call that has to end first. Where the instruction is emulated instead, package
// emulation does that.
//
// # Threads
//
// Only the session's tracing thread uses it. A thread of the target is stopped whenever a method is called.
//
// # One step, from start to end
//
// Begin runs the displaced instruction of a point that the thread has hit (step.go). Out of line, the thread is resumed
// for one instruction, on a copy of it, and the session goes on with other stops. The stop that ends the step comes
// back through Stepped, or through SignalInStep if a signal arrives meanwhile, or through AtCall for a system call: the
// registers are corrected as if the instruction had run at its own address, and Host.FinishWith goes on with the hit.
// If the instruction has raised a signal, the fault handlers run and the signal is delivered. In place (StepInPlace),
// the breakpoint is removed for one instruction while the other threads are held, and the step is over when the method
// returns, but for its last stop, which Host.Later gets. Calls and returns of threads with a shadow stack are stepped
// so (shadow.go).
//
// On processors where nothing is stepped, Emulate completes every instruction in the stop of its breakpoint. System
// calls are made through another instruction of the same kind (armcall.go), and what the emulation cannot do, above all
// an access that faults, runs at its own address with a breakpoint behind it (inplacearm.go).
//
// Instructions that run again because their step was cancelled, or because the kernel restarts a call, are not hit once
// more (Again, MarkRestart). Breakpoints in the way of restartable sequences are found and removed for good
// (sequence.go).
//
// # What may be called from where
//
// Begin, StepInPlace, Emulate, Again and EntersSequence belong to a hit, with the registers read. Stepped, SignalInStep
// and AtCall need a thread in a step (IsActive); AfterCall and CallSeen one that AwaitsEnd. RepairCall needs a stop
// that the session has asked for. HoldOthers of the Host may handle other threads' stops, but does not resume this one.
package stepping
