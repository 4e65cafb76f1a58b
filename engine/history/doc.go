// Package history keeps what it takes to name addresses of processes, also of those that have ended: which modules they
// had, and what the modules' files say (package symbols). Native tracing and remote stubs use it alike.
//
// # One address, from record to name
//
// A back end calls Keep whenever the modules of a process have changed, and End when it traces the process no more.
// Records of hits reach the user later, and name addresses by the number of their process: Symbol and Stack find the
// module that was there last.
//
// What is kept of ended processes and of closed modules is bounded, so that a session of days does not fill the memory.
//
// # Threads
//
// All methods may be called from any goroutine. The lock guards the lists of modules alone, and nothing else is locked
// while it is held.
package history
