// Package facility is where programs' exits lead: numbered places with names, to which whoever does something with an exit
// registers. Facilities are hooks of package hook, two for each number:
//
//   - at the hit, on the tracing thread, when a program has ended with an exit: what is registered there says in the Request what the
//     engine is to do once the probed instruction has completed. It must not block or allocate.
//   - at the record, on the host's goroutine, when the log of that hit has arrived: callbacks of scripts are registered there. The first
//     that returns anything but hook.Continue has taken the record; if nobody has, it is logged.
//
// Numbers below FirstFree are gotap's own: they do what they do at the hit whoever is registered at the record, and programs of
// scripts use them by name (exit.stop is facility Stop). The others are free: `exit 7` of a definition file leads to whoever
// registered with 7. A plain exit leads nowhere, so a hit that
// needs no facility costs nothing here.
//
// # Concurrency
//
// Hit is called on the tracing thread and Deliver on the host's goroutine, at any time; registering, arming and taking back may
// be done meanwhile by anybody, by the rules of package hook. A callback that is taken back while it runs has ended when
// Deregister returns, so a script that leaves a session is never called afterwards.
//
// # Reasons
//
// Why two hooks for a number? What stops a thread has to be known before the thread goes on, on a path that must not wait; a
// callback is JavaScript on another goroutine, which may take long. A hold is the bridge between them: the hit keeps the thread,
// and the record carries the ticket that lets it go when the callbacks have returned.
//
// Why can callbacks be registered with gotap's own facilities, and not replace them? What exit 3 does must not depend on which
// scripts are in the session.
package facility
