// Package facility connects the exits of programs with the code that handles them. A facility has a number and a name,
// and two hooks of package hook:
//
//   - The first is called at the hit, on the tracing thread, when a program has ended with that exit. Its functions set
//     in the Request what the engine is to do once the probed instruction has completed. They must not block or
//     allocate.
//   - The second is called on the host's goroutine when the log of the hit has arrived. Scripts register their
//     callbacks there. The first callback that returns something other than hook.Continue takes the record; a record
//     that nobody takes is logged.
//
// Numbers below FirstFree are gotap's own. Their actions at the hit do not depend on what is registered for the record.
// Programs of scripts use them by name (exit.stop is facility Stop). The other numbers are free: `exit 7` of a
// definition file calls what is registered for 7. A plain exit has no facility, so a hit that needs none costs nothing
// here.
//
// # Concurrency
//
// Hit is called on the tracing thread and Deliver on the host's goroutine, at any time. Any goroutine may register, arm
// and deregister functions meanwhile, by the rules of package hook. When Deregister returns, no call of the function is
// in progress, so a script that has left a session is never called again.
//
// # Reasons
//
// Why two hooks for a number? What stops a thread has to be known before the thread is resumed, on a path that must not
// wait. A callback is JavaScript on another goroutine and may take long. A hold connects the two: the hit keeps the
// thread stopped, and the record carries the ticket that releases it when the callbacks have returned.
//
// Why can callbacks be registered for gotap's own facilities, but not replace them? What exit 3 does must not depend on
// which scripts are in the session.
package facility
