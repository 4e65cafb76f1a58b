package testenv

import (
	"os"
	"path/filepath"
	"strconv"
)

// Cgroups is for tests that make control groups and put processes into them.
const Cgroups Need = "a hierarchy of control groups that can be written"

// CgroupRoots returns a directory of each hierarchy of control groups, of version 1 and 2, in which groups can be made.
// Of version 1 one is enough: that without an effect on its processes, if it is there.
func CgroupRoots() (roots []string) {
	for _, dirs := range [][]string{
		{"/sys/fs/cgroup/freezer", "/sys/fs/cgroup/pids", "/sys/fs/cgroup/systemd", "/sys/fs/cgroup/cpu"},
		{"/sys/fs/cgroup/unified", "/sys/fs/cgroup"},
	} {
		for _, dir := range dirs {
			if canGroup(dir) {
				roots = append(roots, dir)
				break
			}
		}
	}
	return roots
}

// canGroup tries to make a control group.
func canGroup(root string) bool {
	if _, err := os.Stat(filepath.Join(root, "cgroup.procs")); err != nil {
		return false
	}
	dir := filepath.Join(root, "gotap-try-"+strconv.Itoa(os.Getpid()))
	if os.Mkdir(dir, 0o755) != nil {
		return false
	}
	return os.Remove(dir) == nil
}
