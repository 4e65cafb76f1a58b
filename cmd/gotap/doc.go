// Command gotap traces running programs with probes written in JavaScript. It is the command line of package gotap:
// flags, the terminal, files of output, exit statuses, and the processes around a session.
//
// # Processes
//
// `gotap run` is two processes of the same binary. The process that the user started is the supervisor: it starts the
// session, passes signals on to it through a pipe, and exits with its status. The session loads the script, traces and
// prints. When the supervisor dies in any way, SIGKILL included, the pipe closes, and the session takes its probes out
// of the target before it ends; COMMAND goes on, because nobody asked for its end. A session that is killed itself
// cannot do that. Then the supervisor, which knows the targets, takes the probes out (package guardian). Until then,
// and when both are killed, the handler of package engine/crashsafe/fallback in the target lets it run on at the
// remaining breakpoints; "gotap clean" removes them.
//
// # A run, from start to end
//
// newRun parses the flags into a plan, which opens all files (options.go). A run (session.go) opens a session of
// package gotap with the plan and with hooks that print, arms it, opens the control socket, starts it, and waits.
// Signals cancel the session's context. At the end the run closes the session, whose result gives the exit status.
//
// # Goroutines of a session
//
//   - those of package gotap: the tracing thread, the script's host, and one that calls the hooks;
//   - one that reads the supervisor's pipe (control.go), and one that passes on what it reads (run.attend);
//   - with --watch, one that replaces the script when its files change (reload.go);
//   - the control socket's: one accepts clients, each client has another (wire.Server, package manager).
//
// # Rules of output
//
// Standard output, or the file of -o, is data. When nobody reads it any more the run ends. Everything else goes to
// standard error: errors in the form of package diag, how a target has failed with the target's name in front, other
// lines as "gotap: …". Losses are always printed, also with -q.
//
// Exit statuses are in package status. An error carries its own status; without an error, run.exitStatus decides.
package main
