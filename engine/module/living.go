package module

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// Living is a thread of a process through which /proc shows its memory: the first one, as a rule. That may have ended before the
// others (pthread_exit in main); what /proc/PID says of mappings and files is empty then, and /proc/TID of any other says it. It is
// pid itself when no thread is left, or none can be told.
func Living(pid int) int {
	if !ended(pid) {
		return pid
	}
	tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		return pid
	}
	for _, task := range tasks {
		if tid, err := strconv.Atoi(task.Name()); err == nil && !ended(tid) {
			return tid
		}
	}
	return pid
}

// ended reports whether a thread has ended, by its state (proc_pid_stat(5)): a letter behind the name, which stands in brackets and may
// hold any character.
func ended(tid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", tid))
	if err != nil {
		return true
	}
	i := bytes.LastIndexByte(stat, ')') + len(") ")
	return i < len(stat) && (stat[i] == 'Z' || stat[i] == 'X')
}
