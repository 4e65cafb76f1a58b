// Package control starts and stops a stub's target: run control. It decides when the target runs, when it is asked to
// stop, and who may use the connection meanwhile. What a stop means is up to its Target.
//
// # One stop, from start to end
//
// A goroutine in Run waits for the stub. When the target has stopped, the goroutine takes the lock and passes the stop
// to the Target. Then it resumes the target, unless a caller of WhileStopped wants it stopped, a ticket holds it, or
// the session has not started. WhileStopped asks the stub for a stop and waits for the goroutine, which handles
// whatever stop comes first as usual. The stop that was asked for may come later; TakeInterrupt recognizes it.
//
// # The end
//
// The control is over when the target has ended (End), when the connection or a handler has failed, or at Close. Close
// stops the target for the last time, ensures that no interrupt is still due, and runs what restores the target. A
// target that does not stop is left as it is.
//
// # Locks and goroutines
//
// There is one lock, Lock. It guards the target while the target is stopped, and all state of the session about it. Run
// does not hold it while it waits for a stop; RunUntil does. Methods say if the caller must hold it; all others may be
// called from any goroutine. The methods of the Target are called with the lock held.
package control
