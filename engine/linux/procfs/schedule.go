package procfs

import (
	"strconv"
	"strings"
)

// Schedule is how the kernel schedules a thread.
type Schedule struct {
	Threads int // of its process
	Nice    int
	CPU     int // on which it runs, or ran last
	Policy  int // SCHED_…
}

// Policies (sched(7)).
const (
	PolicyOther = 0
	PolicyBatch = 3
)

// Fields of /proc/TID/stat behind the name, counted from 0 (proc_pid_stat(5) counts all of them from 1).
const (
	statNice    = 19 - 3
	statThreads = 20 - 3
	statCPU     = 39 - 3
	statPolicy  = 41 - 3
)

// ScheduleOf returns how a thread is scheduled; ok is false if it does not exist.
func ScheduleOf(tid int) (s Schedule, ok bool) {
	stat := Read(tid, "stat")
	f := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(f) <= statPolicy {
		return s, false
	}
	for _, v := range []struct {
		to    *int
		field int
	}{{&s.Threads, statThreads}, {&s.Nice, statNice}, {&s.CPU, statCPU}, {&s.Policy, statPolicy}} {
		n, err := strconv.Atoi(f[v.field])
		if err != nil {
			return s, false
		}
		*v.to = n
	}
	return s, true
}
