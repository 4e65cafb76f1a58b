package procfs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// Error is a /proc that does not show the processes that a session could trace, or does not let it write their memory.
type Error struct{ reason, hint string }

func (e *Error) Error() string { return "cannot trace: " + e.reason }

// Hint tells how to get another.
func (e *Error) Hint() string { return e.hint }

const (
	hintMount = "mount -t proc proc /proc; unshare does it with --mount-proc"
	hintWrite = "mount -o remount,rw /proc"
)

// Check reports a /proc that is missing, of another pid namespace or read-only. Numbers of processes mean others in another's, so
// memory and names of programs would be a stranger's. Breakpoints are written by way of /proc/PID/mem, and so they are taken out of the
// targets of a killed session, which nobody traces any more. What it returns is a *Error.
func Check() error { return check("/proc", os.Getpid()) }

// check compares who we are with what the kernel shows there as "self"; in another namespace's /proc that leads nowhere.
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

// checkWritable refuses a /proc that is mounted read-only. That memory cannot be opened for another reason is told when it is a target's.
func checkWritable(root string) error {
	mem, err := os.OpenFile(filepath.Join(root, "self", "mem"), os.O_RDWR, 0)
	if errors.Is(err, syscall.EROFS) {
		return &Error{root + " is mounted read-only, and breakpoints are written there", hintWrite}
	}
	mem.Close()
	return nil
}
