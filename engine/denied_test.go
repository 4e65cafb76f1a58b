package engine

import (
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// What the kernel's documentation says of who may trace whom (ptrace(2), LSM/Yama), as the cause and the remedy that users are told.
func TestDenial(t *testing.T) {
	const able = 1 << unix.CAP_SYS_PTRACE
	for _, c := range []struct {
		name      string
		d         accessCheck
		called    bool
		why, help string
	}{
		{"another user's", accessCheck{uid: 1000, owner: "0"}, false, "belongs to user 0", "as that user, or as root"},
		{"root of a container", accessCheck{owner: "1000"}, false, "root has no CAP_SYS_PTRACE", "--cap-add=SYS_PTRACE"},
		{"scope 1", accessCheck{uid: 1000, owner: "1000", scope: "1"}, true, "ptrace_scope is 1", "-- COMMAND"},
		{"scope 1, root without the capability", accessCheck{owner: "0", scope: "1"}, true, "ptrace_scope is 1", "sysctl"},
		{"scope 2", accessCheck{uid: 1000, owner: "1000", scope: "2"}, true, "ptrace_scope is 2", "CAP_SYS_PTRACE"},
		{"scope 2, a program of one's own", accessCheck{uid: 1000, scope: "2"}, true, "ptrace_scope is 2", "CAP_SYS_PTRACE"},
		{"scope 3", accessCheck{caps: able, owner: "0", scope: "3"}, true, "ptrace_scope is 3", "boot"},
		{"a filter", accessCheck{caps: able, owner: "0", filtered: true}, true, "seccomp filter", "seccomp=unconfined"},
		{"a filter, and a program of one's own", accessCheck{uid: 1000, scope: "1", filtered: true}, true, "seccomp filter", "seccomp=unconfined"},
		{"a filter that was not asked", accessCheck{owner: "0", permits: able, filtered: true}, false, "more capabilities", "SYS_PTRACE"},
		{"a daemon with capabilities", accessCheck{uid: 1000, owner: "1000", permits: 1}, false, "more capabilities", "as root"},
		{"set-uid once", accessCheck{uid: 1000, owner: "1000", undumped: true}, false, "not dumpable", "as root"},
		{"a process whose file is not readable", accessCheck{uid: 1000, owner: "1000", unread: true}, false, "not read it", "readable"},
		{"a file that is not readable", accessCheck{uid: 1000, unread: true}, true, "not read it", "readable"},
		{"from inside a user namespace", accessCheck{caps: ^uint64(0), owner: "0", inside: true}, false, "user namespace", "outside"},
		{"scope 2, with the capability", accessCheck{caps: able, owner: "0", scope: "2"}, true, "", "gotap doctor"},
		{"for no known reason", accessCheck{caps: able, owner: "0"}, true, "", "gotap doctor"},
	} {
		why, help := c.d.cause(c.called)
		if !strings.Contains(why, c.why) || (c.why == "") != (why == "") || !strings.Contains(help, c.help) {
			t.Errorf("%s: %q, %q", c.name, why, help)
		}
	}
}

// TestTakenPrivileges: a set-uid program that somebody else traces who may not trace everything is run without its privileges.
func TestTakenPrivileges(t *testing.T) {
	const able = 1 << unix.CAP_SYS_PTRACE
	for _, c := range []struct {
		d        accessCheck
		mode     uint32
		uid, gid uint32
		want     bool
	}{
		{accessCheck{uid: 1000}, 0o4755, 0, 0, true},
		{accessCheck{uid: 1000}, 0o755, 0, 0, false},
		{accessCheck{uid: 1000}, 0o4755, 1000, 0, false}, // its own
		{accessCheck{uid: 1000, caps: able}, 0o4755, 0, 0, false},
		{accessCheck{uid: 1000}, 0o2755, 0, 50, true},
		{accessCheck{uid: 1000}, 0o2755, 0, 1000, false},
		{accessCheck{uid: 1000}, 0o2745, 0, 50, false}, // a lock, and no privilege
		{accessCheck{uid: 0}, 0o4755, 1000, 0, true},   // root without the capability
	} {
		if got := c.d.takesPrivileges(&unix.Stat_t{Mode: c.mode, Uid: c.uid, Gid: c.gid}, 1000); got != c.want {
			t.Errorf("%+v, mode %o of %d and %d: %v", c.d, c.mode, c.uid, c.gid, got)
		}
	}
}
