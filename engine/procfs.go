package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// ProcError is a /proc that does not show the processes that a session could trace.
type ProcError struct{ reason string }

func (e *ProcError) Error() string { return "cannot trace: " + e.reason }

// Hint tells how to get another.
func (e *ProcError) Hint() string {
	return "mount -t proc proc /proc; unshare does it with --mount-proc"
}

// CheckProc reports a /proc that is missing or of another pid namespace. Numbers of processes mean others there, so memory and
// names of programs would be a stranger's. What it returns is a *ProcError.
func CheckProc() error { return checkProc("/proc", os.Getpid()) }

// checkProc compares who we are with what the kernel shows there as "self"; in another namespace's /proc that leads nowhere.
func checkProc(root string, pid int) error {
	self, err := os.Readlink(filepath.Join(root, "self"))
	if err == nil && self == strconv.Itoa(pid) {
		return nil
	}
	if _, missing := os.Lstat(filepath.Join(root, "self")); missing != nil {
		return &ProcError{root + " is not mounted"}
	}
	return &ProcError{fmt.Sprintf("%s is that of another pid namespace", root)}
}
