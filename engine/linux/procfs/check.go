package procfs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// Error is the error for a /proc that does not show the processes that a session could trace, or does not let it write
// their memory.
type Error struct{ reason, hint string }

func (e *Error) Error() string { return "cannot trace: " + e.reason }

// Hint says how to get a usable /proc.
func (e *Error) Hint() string { return e.hint }

const (
	hintMount = "mount -t proc proc /proc; unshare does it with --mount-proc"
	hintWrite = "mount -o remount,rw /proc"
)

// Check reports a /proc that is missing, belongs to another pid namespace, or is read-only. In another namespace,
// numbers belong to other processes, so memory and names of programs would be wrong. Breakpoints are written through
// /proc/PID/mem, which also removes them from targets whose session was killed. The error is an *Error.
func Check() error { return check("/proc", os.Getpid()) }

// check compares this process with "self" of the /proc, a link that leads nowhere in another namespace's /proc.
func check(root string, pid int) error {
	self, err := os.Readlink(filepath.Join(root, "self"))
	if err == nil && self == strconv.Itoa(pid) {
		return checkWritable(root)
	}
	if _, missing := os.Lstat(filepath.Join(root, "self")); missing != nil {
		return &Error{root + " is not mounted", hintMount}
	}
	return &Error{fmt.Sprintf("%s is that of another pid namespace", root), hintMount}
}

// checkWritable refuses a /proc that is mounted read-only. Other reasons why memory cannot be opened are reported for
// the target.
func checkWritable(root string) error {
	mem, err := os.OpenFile(filepath.Join(root, "self", "mem"), os.O_RDWR, 0)
	if errors.Is(err, syscall.EROFS) {
		return &Error{root + " is mounted read-only, and breakpoints are written there", hintWrite}
	}
	mem.Close()
	return nil
}
