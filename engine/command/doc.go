// Package command starts the program of a backend.Command as a traced child, and says why one cannot be started.
//
// # Threads
//
// Any goroutine may call Find, At and Explain. Fork and Seize belong on the thread that is going to trace the child,
// because the kernel accepts no other as its tracer.
//
// # One command, from start to end
//
// Find searches for the file in the command's directory and PATH, and refuses what cannot be run as far as its name and
// mode show it. Fork creates the child, which asks to be traced and executes the file: it stops before the first
// instruction. If execve fails, Fork looks into the file: a missing interpreter or loader, and a program for another
// processor, are named as the cause. Seize then takes over the child with the requests that sessions need, before it
// has run anything. What happens to it from then on is the caller's concern.
package command
