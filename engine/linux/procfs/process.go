package procfs

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// MaxPid is the largest number a process can have (the kernel's PID_MAX_LIMIT on 64-bit machines).
const MaxPid = 1 << 22

// ParsePid parses a process number, 1 to MaxPid; the error says what is wrong with the text.
func ParsePid(text string) (int, error) {
	digits := 0
	if len(text) > 1 && text[0] == '-' {
		digits++
	}
	for digits < len(text) && text[digits] >= '0' && text[digits] <= '9' {
		digits++
	}
	if digits == 0 || text[digits-1] == '-' {
		return 0, fmt.Errorf("%s: not a number", text)
	}
	if digits < len(text) {
		return 0, fmt.Errorf("%s: %q after the number", text, text[digits:])
	}
	pid, err := strconv.Atoi(text)
	if err != nil || pid < 1 || pid > MaxPid {
		return 0, fmt.Errorf("%s: process numbers are 1 to %d", text, MaxPid)
	}
	return pid, nil
}

// Processes returns the numbers of all processes that can be seen, in their order.
func Processes() (pids []int) {
	dirs, _ := filepath.Glob("/proc/[0-9]*") // the pattern is well-formed
	for _, dir := range dirs {
		if pid, err := strconv.Atoi(filepath.Base(dir)); err == nil {
			pids = append(pids, pid)
		}
	}
	slices.Sort(pids)
	return pids
}

// Names returns the names by which a process is known: that of its program's file, that of the command as it was
// called, and its own (Name). The kernel's threads, which have no program, and processes that have ended have none.
func Names(pid int) (names []string) {
	command := Read(pid, "cmdline")
	if command == "" {
		return nil
	}
	called, _, _ := strings.Cut(command, "\x00")
	for _, name := range []string{filepath.Base(strings.TrimSuffix(Link(pid, "exe"), " (deleted)")), filepath.Base(called), Name(pid)} {
		if name != "" && name != "." {
			names = append(names, name)
		}
	}
	return names
}
