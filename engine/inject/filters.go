package inject

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

// Targets whose system calls are filtered (seccomp(2)), as in most containers.
//
// The engine makes a target's thread call the kernel for memory and for its action for SIGTRAP. A filter may kill the
// process for a call that the process never makes itself. So the engine examines the filters first, which requires a
// tracer with CAP_SYS_ADMIN and without a filter of its own. A tracer in a container does not meet this, but it is
// usually under the same filters as the target; see sharesFilters. If nothing is known, no call is made: instructions
// are then stepped in place, and there is no fallback.
//
// When the fallback is installed, the engine also checks what a filter would do with the calls of its handler. It
// cannot foresee a filter that the process installs later.

// filters is what is known about a thread's filters.
type filters struct {
	count string // number of filters, from /proc/TID/status; it only grows
	all   []seccomp.Filter
	why   string // why no call can be made; all is empty then
}

// Filtered returns why a thread must not be made to call the kernel. "" means that it may, if allows agrees.
func (j *Caller) Filtered() string {
	switch mode := j.t.Status("Seccomp"); mode {
	case "", "0":
		j.filters = filters{}
		return ""
	case "2":
		count := j.t.Status("Seccomp_filters")
		if j.filters.count == "" || j.filters.count != count {
			j.filters = j.readFilters()
			j.filters.count = count
		}
		return j.filters.why
	}
	return "its system calls are restricted (seccomp, strict)"
}

// readFilters reads the filters from the kernel. The thread is stopped.
func (j *Caller) readFilters() (f filters) {
	for {
		code, e := ptrace.Filter(j.t.Tid, len(f.all))
		switch e {
		case 0:
			f.all = append(f.all, code)
			continue
		case syscall.ENOENT:
			return f
		}
		if sharesFilters(j.t.Tid) {
			return filters{}
		}
		return filters{why: fmt.Sprintf("its system calls are filtered (seccomp), and what the filter allows cannot be read: %v", e)}
	}
}

// allows returns an error if a filter would do anything other than let a system call be made. args begins with the
// call's first argument.
func (j *Caller) allows(number uint64, args ...uint64) error {
	if why := j.Filtered(); why != "" {
		return errors.New(why)
	}
	return j.judge(number, args...)
}

// Allows reports whether the thread's filters are known and let a system call be made.
func (j *Caller) Allows(number uint64, args ...uint64) bool { return j.allows(number, args...) == nil }

// AllowsHandler returns an error if a filter would not let the fallback's handler do its work, so that the fallback
// would be useless.
func (j *Caller) AllowsHandler() error {
	if why := j.Filtered(); why != "" {
		return errors.New(why)
	}
	for _, number := range j.t.ABI().Native.Calls() {
		if err := j.judge(number); err != nil {
			return err
		}
	}
	return nil
}

// judge asks the filters that filtered has found.
func (j *Caller) judge(number uint64, args ...uint64) error {
	c := seccomp.Call{Number: uint32(number), Arch: j.t.ABI().AuditArch, PC: *j.t.PC()}
	copy(c.Args[:], args)
	for _, f := range j.filters.all {
		if !f.Allows(c) {
			return fmt.Errorf("its seccomp filter does not let it make system call %d", number)
		}
	}
	return nil
}

// sharesFilters reports whether a process has exactly the filters that this one has. This process makes all the calls
// that the engine has targets make, and is not killed for it.
//
// A process's filters are its parent's and those it added. A process of the same cgroup and the same namespaces with as
// many filters is in the same container and has added none since; or it is our child. The check is wrong for two
// processes that received their filters within one container and one cgroup from two programs that installed equally
// many but different ones.
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
