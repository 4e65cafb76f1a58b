package procfs

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

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

// Names returns the names by which a process is known: that of its program's file, that of the command as it was called, and its own
// (Name). The kernel's threads, which have no program, and processes that have ended have none.
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
