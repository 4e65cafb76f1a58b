// Package syscallnames has the names of Linux's system calls by number, for each instruction set that targets may have,
// and their parameters. It is data, the same on every host, for every back end that reports system calls: the kernel or
// a stub reports a number, a script has a name.
//
// # From a name to a value
//
// Names lists the calls of an instruction set; a probe on syscall:NAME is registered under each number whose name
// matches. When such a probe is compiled, Access finds args.NAME: which argument the parameter is, and how it is cut to
// the width of its type, because the upper halves of 32-bit parameters are undefined.
//
// The tables are immutable. All functions may be called at any time from any goroutine.
package syscallnames
