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

// SleepsAt returns where a thread that is off the processor continues in its program, and its stack pointer. ok is false
// if it runs, or waits for a processor.
func SleepsAt(tid int) (pc, sp uint64, ok bool) {
	const inCall, outside = 9, 3 // words: in a call its number and six arguments come first, else -1
	words := strings.Fields(Read(tid, "syscall"))
	if n := len(words); n != inCall && (n != outside || words[0] != "-1") {
		return 0, 0, false
	}
	sp, err := strconv.ParseUint(words[len(words)-2], 0, 64)
	pc, err2 := strconv.ParseUint(words[len(words)-1], 0, 64)
	return pc, sp, err == nil && err2 == nil
}
