package engine

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"gotap/engine/linux/procfs"
	"gotap/engine/linux/ptrace"
	"gotap/engine/linux/seccomp"
)

// Targets whose system calls are filtered (seccomp(2)), as those of all processes in most containers are.
//
// The engine has a target's thread call the kernel for memory and for its action for SIGTRAP, and a filter may end the process for
// a call that it never makes itself. So a filter is asked first, which takes a tracer with CAP_SYS_ADMIN and without a filter of
// its own. A tracer in a container is no such, but what filters it is mostly just what filters the target; see sharesFilters. Where
// nothing is known nothing is called: instructions are stepped in place then, and there is no fallback.
//
// What a filter would do with the calls of the fallback's handler is asked when that is put in. A filter that the process puts on
// later is not foreseen.

// filters is what is known of a thread's filters.
type filters struct {
	count string // of them, as /proc/TID/status has it; they only become more
	all   []seccomp.Filter
	why   string // no call can be made; all is nothing then
}

// filtered says why a thread must not be made to call the kernel; "": it may, if allows agrees.
func (t *thread) filtered() string {
	switch mode := t.statusField("Seccomp"); mode {
	case "", "0":
		t.filters = filters{}
		return ""
	case "2":
		count := t.statusField("Seccomp_filters")
		if t.filters.count == "" || t.filters.count != count {
			t.filters = t.readFilters()
			t.filters.count = count
		}
		return t.filters.why
	}
	return "its system calls are restricted (seccomp, strict)"
}

// readFilters gets the filters from the kernel. The thread is stopped.
func (t *thread) readFilters() (f filters) {
	for {
		code, e := ptrace.Filter(t.tid, len(f.all))
		switch e {
		case 0:
			f.all = append(f.all, code)
			continue
		case syscall.ENOENT:
			return f
		}
		if sharesFilters(t.tid) {
			return filters{}
		}
		return filters{why: fmt.Sprintf("its system calls are filtered (seccomp), and what the filter allows cannot be read: %v", e)}
	}
}

// allows is an error when a filter would do something else with a system call than make it. The arguments count from the first.
func (t *thread) allows(number uint64, args ...uint64) error {
	if why := t.filtered(); why != "" {
		return errors.New(why)
	}
	return t.judge(number, args...)
}

// allowsHandler is an error when a filter would not let the fallback's handler do its work, so that it could as well be left out.
func (t *thread) allowsHandler() error {
	if why := t.filtered(); why != "" {
		return errors.New(why)
	}
	for _, number := range t.proc.arch.Native.Calls() {
		if err := t.judge(number); err != nil {
			return err
		}
	}
	return nil
}

// judge asks the filters that filtered has found.
func (t *thread) judge(number uint64, args ...uint64) error {
	c := seccomp.Call{Number: uint32(number), Arch: t.proc.arch.AuditArch, PC: *t.pc()}
	copy(c.Args[:], args)
	for _, f := range t.filters.all {
		if !f.Allows(c) {
			return fmt.Errorf("its seccomp filter does not let it make system call %d", number)
		}
	}
	return nil
}

// sharesFilters reports whether a process has the very filters that this one has, which does all that the engine has targets do, and lives.
//
// A process's filters are those of its parent and what it added. One of the same cgroup and the same namespaces, with as many
// filters, is in the same container and has added none since; or it is our child. Two processes that were each given their filters
// within one container and one cgroup, by two programs that gave them as many but others, would be mistaken.
func sharesFilters(tid int) bool {
	own := os.Getpid()
	count := procfs.Status(own, "Seccomp_filters")
	if n, err := strconv.Atoi(count); err != nil || n == 0 || procfs.Status(tid, "Seccomp_filters") != count {
		return false
	}
	for _, ns := range strings.Fields("user pid mnt net") {
		ours, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/%s", own, ns))
		theirs, e := os.Readlink(fmt.Sprintf("/proc/%d/ns/%s", tid, ns))
		if err != nil || e != nil || ours != theirs {
			return false
		}
	}
	ours, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", own))
	theirs, e := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", tid))
	return err == nil && e == nil && string(ours) == string(theirs)
}
