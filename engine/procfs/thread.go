package procfs

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Read is a file of /proc/TID, "" when it cannot be read.
func Read(tid int, name string) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", tid, name))
	if err != nil {
		return ""
	}
	return string(text)
}

// Link is what a link of /proc/TID points to, "" when that cannot be told.
func Link(tid int, name string) string {
	path, err := os.Readlink(fmt.Sprintf("/proc/%d/%s", tid, name))
	if err != nil {
		return ""
	}
	return path
}

// Name is a thread's name, "?" when there is no such thread.
func Name(tid int) string {
	name := Read(tid, "comm")
	if name == "" {
		return "?"
	}
	return strings.TrimSuffix(name, "\n")
}

// Status is a field of /proc/TID/status (proc_pid_status(5)), "" when there is none.
func Status(tid int, field string) string {
	for line := range strings.Lines(Read(tid, "status")) {
		if key, value, ok := strings.Cut(line, ":"); ok && key == field {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// Threads lists the threads of a process, none when it is gone.
func Threads(pid int) (tids []int) {
	dir, err := os.Open(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		if tid, err := strconv.Atoi(name); err == nil {
			tids = append(tids, tid)
		}
	}
	return tids
}

// Group is the process that a thread belongs to; tid itself when there is no such thread.
func Group(tid int) int {
	if pid, err := strconv.Atoi(Status(tid, "Tgid")); err == nil {
		return pid
	}
	return tid
}

// Living is a thread of a process through which /proc shows its memory: the first one, as a rule. That may have ended before the
// others (pthread_exit in main); what /proc/PID says of mappings and files is empty then, and /proc/TID of any other says it. It is
// pid itself when no thread is left, or none can be told.
func Living(pid int) int {
	if !Ended(pid) {
		return pid
	}
	tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		return pid
	}
	for _, task := range tasks {
		if tid, err := strconv.Atoi(task.Name()); err == nil && !Ended(tid) {
			return tid
		}
	}
	return pid
}

// Ended reports whether a thread has ended, or is not there, by its state (proc_pid_stat(5)): a letter behind the name, which stands in brackets and may
// hold any character.
func Ended(tid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", tid))
	if err != nil {
		return true
	}
	i := bytes.LastIndexByte(stat, ')') + len(") ")
	return i < len(stat) && (stat[i] == 'Z' || stat[i] == 'X')
}

// Children are the processes that a process has started and that have not ended, by number; none where the kernel does not list them
// (proc_pid_task_tid_children(5)).
func Children(pid int) (pids []int) {
	for _, tid := range Threads(pid) {
		pids = append(pids, ChildrenOf(tid)...)
	}
	slices.Sort(pids)
	return pids
}

// ChildrenOf are those that one thread has started.
func ChildrenOf(tid int) (pids []int) {
	for _, field := range strings.Fields(Read(tid, fmt.Sprintf("task/%d/children", tid))) {
		if child, err := strconv.Atoi(field); err == nil && !Ended(child) {
			pids = append(pids, child)
		}
	}
	return pids
}
