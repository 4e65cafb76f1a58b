// Package seccomp evaluates what a seccomp filter would do with a system call, without making it (seccomp(2), and the
// kernel's Documentation/userspace-api/seccomp_filter.rst).
//
// A filter is a program for the classic Berkeley packet filter, which the kernel runs over the number and the arguments
// of each call: loads, arithmetic on two registers and sixteen words of memory, and jumps, all of them forward, so that
// every program ends. A thread may have several; the strictest result counts. The kernel returns a filter to a
// privileged tracer that has none itself (PTRACE_SECCOMP_GET_FILTER).
//
// The result is a prediction, and unknown operations count as not allowed. Filters come from the traced program and are
// not trusted; a malformed one is refused. All functions are pure and safe for concurrent use.
package seccomp
