package permission

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"gotap/engine/linux/procfs"
)

// facts are the facts about the tracer and the target that explain a refused ptrace request (ptrace(2), "Ptrace access
// mode checking").
type facts struct {
	uid      int
	caps     uint64 // effective
	scope    string // kernel.yama.ptrace_scope; "" without yama
	filtered bool   // by seccomp
	inside   bool   // in a user namespace other than the machine's

	owner    string // user of the process; "" for a program to be started
	permits  uint64 // permitted capabilities of the process
	undumped bool   // the process is not dumpable
	unread   bool   // the program's file is executable but not readable
}

// Help for the cases in which ptrace itself is not permitted.
const (
	moreCapabilities = "run gotap as root; in a container: --cap-add=SYS_PTRACE"
	looserFilter     = "in a container: --cap-add=SYS_PTRACE, or --security-opt seccomp=unconfined; elsewhere start gotap from a shell without the filter"
)

// cause returns why the kernel refuses, as far as it can be determined, and what would help. called means that the
// refusal is ptrace's own answer, which a filter may have given.
func (d facts) cause(called bool) (why, help string) {
	able := d.caps>>unix.CAP_SYS_PTRACE&1 == 1
	switch {
	case d.scope == "3":
		return "kernel.yama.ptrace_scope is 3", "no process can be traced until the next boot"
	case !able && d.owner != "" && d.owner != strconv.Itoa(d.uid) && d.uid == 0:
		return fmt.Sprintf("it belongs to user %s, and root has no CAP_SYS_PTRACE here", d.owner), "run gotap as that user; in a container: --cap-add=SYS_PTRACE"
	case !able && d.owner != "" && d.owner != strconv.Itoa(d.uid):
		return "it belongs to user " + d.owner, "run gotap as that user, or as root"
	case d.scope == "2" && !able:
		return "kernel.yama.ptrace_scope is 2", "it takes CAP_SYS_PTRACE: run gotap as root"
	case d.scope == "1" && !able && d.owner != "":
		return "kernel.yama.ptrace_scope is 1",
			"only own children can be traced: start the program with gotap run -- COMMAND, run gotap as root, or set the sysctl to 0"
	case d.unread && !able:
		return "this user may run its file, and not read it", "run gotap as root, or make the file readable"
	case d.filtered && called:
		return "a seccomp filter is in force here, which forbids ptrace", looserFilter
	case !able && d.permits&^d.caps != 0:
		return "it has more capabilities than gotap", moreCapabilities
	case d.undumped && !able:
		return "it is not dumpable: it was set-uid, may not be read, or asked for that", moreCapabilities
	case !called && able && d.uid == 0 && d.owner != "" && d.owner != "0" && d.caps>>unix.CAP_DAC_OVERRIDE&1 == 0:
		return fmt.Sprintf("it belongs to user %s, and root has no CAP_DAC_OVERRIDE here, which opening its memory takes", d.owner),
			"run gotap as that user; in a container: --cap-add=DAC_OVERRIDE"
	case d.inside:
		return "gotap is in a user namespace, and it is not", "run gotap outside of the namespace, where processes inside have numbers as well"
	}
	return "", "it takes CAP_SYS_PTRACE over a process that has more privileges, is not dumpable, or lives in another user namespace; " +
		"in a container also a seccomp profile that allows ptrace; gotap doctor tells what there is"
}

// self returns the facts about this process.
func self() facts {
	scope, _ := os.ReadFile("/proc/sys/kernel/yama/ptrace_scope")
	users, _ := os.ReadFile("/proc/self/uid_map")
	me := os.Getpid()
	return facts{uid: os.Geteuid(), caps: capabilities(me, "CapEff"), scope: strings.TrimSpace(string(scope)),
		filtered: procfs.Status(me, "Seccomp") == "2",
		inside:   len(users) > 0 && strings.Join(strings.Fields(string(users)), " ") != "0 0 4294967295"}
}

// capabilities returns a capability set of a process from its status file.
func capabilities(pid int, field string) uint64 {
	set, _ := strconv.ParseUint(procfs.Status(pid, field), 16, 64)
	return set
}

// ToAttach returns why the kernel does not permit attaching to a process, as far as it can be determined, and what
// would help. err is the kernel's refusal.
func ToAttach(pid int, err error) (why, help string) {
	d := self()
	d.owner, _, _ = strings.Cut(procfs.Status(pid, "Uid"), "\t")
	d.permits = capabilities(pid, "CapPrm")
	var st unix.Stat_t
	// The files of a process that is not dumpable appear to belong to root, its directory does not (proc(5)).
	d.undumped = unix.Stat(fmt.Sprintf("/proc/%d/status", pid), &st) == nil && strconv.Itoa(int(st.Uid)) != d.owner
	// If the link is readable, the process may be examined, and only its file may not.
	d.unread = errors.Is(err, unix.EACCES) && procfs.Link(pid, "exe") != ""
	return d.cause(errors.Is(err, unix.EPERM))
}

// ToStart returns why the kernel does not permit starting a program under trace, as far as it can be determined, and
// what would help.
func ToStart(path string) (why, help string) {
	d := self()
	d.unread = unix.Access(path, unix.R_OK) != nil
	return d.cause(true)
}

// LostPrivileges returns a warning of a program that runs with fewer privileges than its file would give it, because it
// is traced, or "" if it does not.
func LostPrivileges(path string) string {
	var st unix.Stat_t
	if unix.Stat(path, &st) != nil || !self().takesPrivileges(&st, os.Getegid()) {
		return ""
	}
	return path + " is set-uid or set-gid and runs without these privileges, since it is traced by a user who has none: run gotap as root"
}

// takesPrivileges reports whether the kernel withholds from a program the privileges of its file because it is traced
// (execve(2)).
func (d facts) takesPrivileges(st *unix.Stat_t, gid int) bool {
	able := d.caps>>unix.CAP_SYS_PTRACE&1 == 1
	asUser := st.Mode&unix.S_ISUID != 0 && int(st.Uid) != d.uid
	asGroup := st.Mode&unix.S_ISGID != 0 && st.Mode&unix.S_IXGRP != 0 && int(st.Gid) != gid
	return !able && (asUser || asGroup)
}
