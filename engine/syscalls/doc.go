// Package syscalls is what is known of the system calls of Linux: their names by number, for each instruction set that targets may
// have, and their parameters. It is data, the same on every host, for every back end that sees system calls: the kernel or a stub
// tells a number, a script names a name.
//
// # From a name to a value
//
// Names lists the calls of an instruction set; a probe on syscall:NAME is registered under each number whose name matches. When
// such a probe is compiled, args.NAME is looked up by Access, which says which argument the parameter is, and how it is cut to the
// width of its type: the upper halves of 32-bit parameters may hold anything.
//
// The tables are immutable. All functions may be called at any time from any goroutine.
package syscalls
