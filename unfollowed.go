package gotap

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"gotap/engine"
	"gotap/engine/linux/procfs"
)

// reportUnfollowed notes that children were not traced when no probe was hit: a server's first process often leaves the
// work to others.
func (s closing) reportUnfollowed(states []engine.ProbeState) {
	if s.opts.Follow == engine.FollowChildren || s.opts.Remote != "" || !sawNothing(states) {
		return
	}
	var children []int
	for _, pid := range s.opts.Pids {
		children = append(children, procfs.Children(pid)...)
	}
	children = slices.DeleteFunc(children, func(pid int) bool { // a shell that waits for gotap
		return pid == os.Getpid() || pid == os.Getppid()
	})
	made := int(s.forks.Load())
	switch n := len(children); {
	case n > 0:
		s.note("no probe was hit, and %s not traced (%s): --follow children traces them, and those that start from now on",
			childrenWere(n), pidList(children))
	case made > 0:
		s.note("no probe was hit, and %s not traced: --follow children does that", childrenWere(made))
	}
}

// childrenWere begins a sentence about children.
func childrenWere(n int) string {
	if n == 1 {
		return "1 child of the target was"
	}
	return fmt.Sprintf("%d children of the target were", n)
}

// sawNothing reports whether there were probes with places, and no hits.
func sawNothing(states []engine.ProbeState) bool {
	places := 0
	for _, s := range states {
		if s.Hits > 0 {
			return false
		}
		places += s.Places
	}
	return places > 0
}

// maxListed is how many processes a note lists.
const maxListed = 8

// pidList writes process numbers as -p takes them.
func pidList(pids []int) string {
	var list []string
	for _, pid := range pids[:min(maxListed, len(pids))] {
		list = append(list, fmt.Sprint(pid))
	}
	if len(pids) > maxListed {
		list = append(list, "…")
	}
	return strings.Join(list, ",")
}
