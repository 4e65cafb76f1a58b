// Command gotap traces running programs with probes written in JavaScript.
//
// # Processes
//
// `gotap run` is two processes of the same binary. The one the user started, the supervisor, does nothing but start the session,
// pass signals on through a pipe, and take over its exit status. The session loads the script, traces and prints. The point is the
// pipe: when the supervisor dies in any way, SIGKILL included, the pipe closes, and the session takes its probes out of the target
// before it ends; COMMAND goes on, as no one has asked for its end. A session that is killed itself cannot do that; then the
// supervisor, which was told of the targets, takes them out as soon as it has waited for the session (guardian.go). Until then, and
// when both are killed, the handler of package engine/fallback, which the session put into the target, lets the target run on at
// the breakpoints that stay; "gotap clean" takes those out.
//
// # Goroutines of a session
//
//   - the tracing thread, owned by package engine: waits for stops, runs programs, steps;
//   - the host goroutine, owned by package script: runs all JavaScript, drains the ring;
//   - the control goroutine: reads the supervisor's pipe, timers of -T;
//   - with --watch, the one that exchanges the script when its file changes (watch.go);
//   - the manager's: one accepts what `gotap ctl` connects, each client has another (manage.go).
//
// What changes the run from outside, reloads and gotap ctl, holds run.change while it does, and takes no other lock of this package
// while it waits for the engine or the host, except those that guard a list for a moment.
//
// They meet in session.go: tracer is the script's view of the engine, and lifecycle events go from the engine to the host through
// a bounded queue.
//
// # Rules of output
//
// Standard output, or the file of -o, is data (datafile.go). When nobody reads it any more the run is over. Everything else goes to
// standard error: errors in the form of package diag, how a target has failed with its name in front (outcome.go), other lines as
// "gotap: …". Loss is always told, also with -q.
//
// Exit statuses are in status.go; an error carries its own, and exitStatus (outcome.go) decides where there is none.
package main
