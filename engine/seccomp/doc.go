// Package seccomp says what a seccomp filter would do with a system call, without making it (seccomp(2), and the kernel's
// Documentation/userspace-api/seccomp_filter.rst).
//
// A filter is a program for the classic Berkeley packet filter, which the kernel runs over the number and the arguments of each
// call: loads, arithmetic on two registers and sixteen words of memory, and jumps, all of them forward, so that every program ends.
// A thread may have several; the strictest answer counts. The kernel gives a filter away to a privileged tracer that has none
// itself (PTRACE_SECCOMP_GET_FILTER).
//
// This is a judgement, not a guard: what is not understood is not allowed. Filters come from the traced program and are not
// trusted; a malformed one cannot do more here than be refused. All is pure and may be used by several goroutines at once.
package seccomp
