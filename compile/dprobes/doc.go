// Package dprobes lists the commands of IBM's Dynamic Probes that gotap refuses, and why.
//
// The assembler (package compile) and the front end of definition files (compile/dpdf) ask Refused about a command that
// they do not know, before they report it as unknown. The functions keep no state and may be called from any goroutine.
package dprobes
