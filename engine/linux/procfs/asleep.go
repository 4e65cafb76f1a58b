package procfs

import (
	"strconv"
	"strings"
)

// Asleep reports whether a thread sleeps inside a system call. The kernel reports the number of the call only for a
// thread that is off the processor. A thread that is stopped with a report for us is not asleep.
func Asleep(tid int) bool {
	number, _, _ := strings.Cut(Read(tid, "syscall"), " ")
	n, err := strconv.Atoi(number)
	return err == nil && n >= 0 && strings.HasPrefix(Status(tid, "State"), "S")
}
