package cpumask

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// Set sets the CPUs that a thread may run on. The kernel leaves out those that its cpuset does not have.
//
// The pointer is converted to a number within the expression of the call, as package unsafe allows (rule 4).
func Set(tid int, m Mask) error {
	if len(m) == 0 {
		return unix.EINVAL
	}
	_, _, e := unix.RawSyscall(unix.SYS_SCHED_SETAFFINITY, uintptr(tid), uintptr(8*len(m)), uintptr(unsafe.Pointer(&m[0])))
	if e != 0 {
		return e
	}
	return nil
}
