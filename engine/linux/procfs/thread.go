package procfs

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Read returns the contents of a file in /proc/TID, or "" when it cannot be read. It takes half the system calls of
// os.ReadFile, which first tries to have the file polled: samples read a file of each thread.
func Read(tid int, name string) string {
	path := fmt.Sprintf("/proc/%d/%s", tid, name)
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return ""
	}
	f := os.NewFile(uintptr(fd), path)
	defer f.Close()
	text, err := io.ReadAll(f)
	if err != nil {
		return ""
	}
	return string(text)
}

// Link returns the target of a link in /proc/TID, or "".
func Link(tid int, name string) string {
	path, err := os.Readlink(fmt.Sprintf("/proc/%d/%s", tid, name))
	if err != nil {
		return ""
	}
	return path
}

// Name returns a thread's name, or "?" when it does not exist.
func Name(tid int) string {
	name := Read(tid, "comm")
	if name == "" {
		return "?"
	}
	return strings.TrimSuffix(name, "\n")
}

// Status returns a field of /proc/TID/status (proc_pid_status(5)), or "".
func Status(tid int, field string) string {
	for line := range strings.Lines(Read(tid, "status")) {
		if key, value, ok := strings.Cut(line, ":"); ok && key == field {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// SignalSet reads a signal set from /proc/TID/status. It returns 0 if the thread does not exist.
func SignalSet(tid int, field string) uint64 {
	v, _ := strconv.ParseUint(Status(tid, field), 16, 64)
	return v
}

// Threads returns the threads of a process, or nothing when it has ended.
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

// Group returns the process that a thread belongs to, or tid when the thread does not exist.
func Group(tid int) int {
	if pid, err := strconv.Atoi(Status(tid, "Tgid")); err == nil {
		return pid
	}
	return tid
}

// Living returns a thread of a process through which /proc shows its memory. In most processes it is the first one.
// When that has ended before the others (pthread_exit in main), mappings and files in /proc/PID are empty, but those in
// /proc/TID of another thread are not. Living returns pid when no thread is left or none can be found.
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

// Ended reports whether a thread has ended or does not exist. Its state is a letter behind the name, which is in
// brackets and may contain any character (proc_pid_stat(5)).
func Ended(tid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", tid))
	if err != nil {
		return true
	}
	i := bytes.LastIndexByte(stat, ')') + len(") ")
	return i < len(stat) && (stat[i] == 'Z' || stat[i] == 'X')
}

// HeapStart returns the address where the heap of a process begins (brk), rounded up to a page; 0 if it is not known.
// Only who may trace the process may know it.
func HeapStart(pid int) uint64 {
	const startBrk, page = 47, 4096 // the field, counted from 1 (proc_pid_stat(5))
	stat := Read(pid, "stat")
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:]) // from the third on
	if len(fields) <= startBrk-3 {
		return 0
	}
	at, _ := strconv.ParseUint(fields[startBrk-3], 10, 64)
	return (at + page - 1) &^ (page - 1)
}

// Children returns the child processes of a process that have not ended, by number, or nothing where the kernel does
// not list them (proc_pid_task_tid_children(5)).
func Children(pid int) (pids []int) {
	for _, tid := range Threads(pid) {
		pids = append(pids, ChildrenOf(tid)...)
	}
	slices.Sort(pids)
	return pids
}

// IsParent reports whether a thread has started a process that nobody has waited for to the end. It is false where the
// kernel does not list children (CONFIG_PROC_CHILDREN).
func IsParent(tid int) bool { return Read(tid, fmt.Sprintf("task/%d/children", tid)) != "" }

// ChildrenOf returns the child processes that one thread has started.
func ChildrenOf(tid int) (pids []int) {
	for _, field := range strings.Fields(Read(tid, fmt.Sprintf("task/%d/children", tid))) {
		if child, err := strconv.Atoi(field); err == nil && !Ended(child) {
			pids = append(pids, child)
		}
	}
	return pids
}
