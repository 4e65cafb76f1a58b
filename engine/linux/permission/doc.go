// Package permission says why the kernel refuses to let this program trace a process, and what would help.
//
// The kernel answers EPERM for many reasons (ptrace(2), "Ptrace access mode checking"). The package reads the facts
// that it judges by from /proc and compares them in the order in which the kernel does. It traces nothing itself, and
// may be used from any goroutine.
package permission
