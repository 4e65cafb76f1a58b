package permission

import (
	"errors"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// What the kernel's documentation says of who may trace whom (ptrace(2), LSM/Yama), as the cause and the remedy that
// users are told.
func TestDenial(t *testing.T) {
	const able = 1 << unix.CAP_SYS_PTRACE
	for _, c := range []struct {
		name      string
		d         facts
		called    bool
		why, help string
	}{
		{"another user's", facts{uid: 1000, owner: "0"}, false, "belongs to user 0", "as that user, or as root"},
		{"root of a container", facts{owner: "1000"}, false, "root has no CAP_SYS_PTRACE", "--cap-add=SYS_PTRACE"},
		{"scope 1", facts{uid: 1000, owner: "1000", scope: "1"}, true, "ptrace_scope is 1", "-- COMMAND"},
		{"scope 1, root without the capability", facts{owner: "0", scope: "1"}, true, "ptrace_scope is 1", "sysctl"},
		{"scope 2", facts{uid: 1000, owner: "1000", scope: "2"}, true, "ptrace_scope is 2", "CAP_SYS_PTRACE"},
		{"scope 2, a program of one's own", facts{uid: 1000, scope: "2"}, true, "ptrace_scope is 2", "CAP_SYS_PTRACE"},
		{"scope 3", facts{caps: able, owner: "0", scope: "3"}, true, "ptrace_scope is 3", "boot"},
		{"a filter", facts{caps: able, owner: "0", filtered: true}, true, "seccomp filter", "seccomp=unconfined"},
		{"a filter, and a program of one's own", facts{uid: 1000, scope: "1", filtered: true}, true, "seccomp filter", "seccomp=unconfined"},
		{"a filter that was not asked", facts{owner: "0", permits: able, filtered: true}, false, "more capabilities", "SYS_PTRACE"},
		{"a daemon with capabilities", facts{uid: 1000, owner: "1000", permits: 1}, false, "more capabilities", "as root"},
		{"set-uid once", facts{uid: 1000, owner: "1000", undumped: true}, false, "not dumpable", "as root"},
		{"a process whose file is not readable", facts{uid: 1000, owner: "1000", unread: true}, false, "not read it", "readable"},
		{"a file that is not readable", facts{uid: 1000, unread: true}, true, "not read it", "readable"},
		{"from inside a user namespace", facts{caps: ^uint64(0), owner: "0", inside: true}, false, "user namespace", "outside"},
		{"scope 2, with the capability", facts{caps: able, owner: "0", scope: "2"}, true, "", "gotap doctor"},
		{"root without the right to open files", facts{caps: able, owner: "999"}, false, "CAP_DAC_OVERRIDE", "--cap-add=DAC_OVERRIDE"},
		{"root with it", facts{caps: able | 1<<unix.CAP_DAC_OVERRIDE, owner: "999"}, false, "", "gotap doctor"},
		{"for no known reason", facts{caps: able, owner: "0"}, true, "", "gotap doctor"},
	} {
		why, help := c.d.cause(c.called)
		if !strings.Contains(why, c.why) || (c.why == "") != (why == "") || !strings.Contains(help, c.help) {
			t.Errorf("%s: %q, %q", c.name, why, help)
		}
	}
}

// TestTakenPrivileges: a set-uid program that somebody else traces who may not trace everything is run without its
// privileges.
func TestTakenPrivileges(t *testing.T) {
	const able = 1 << unix.CAP_SYS_PTRACE
	for _, c := range []struct {
		d        facts
		mode     uint32
		uid, gid uint32
		want     bool
	}{
		{facts{uid: 1000}, 0o4755, 0, 0, true},
		{facts{uid: 1000}, 0o755, 0, 0, false},
		{facts{uid: 1000}, 0o4755, 1000, 0, false}, // its own
		{facts{uid: 1000, caps: able}, 0o4755, 0, 0, false},
		{facts{uid: 1000}, 0o2755, 0, 50, true},
		{facts{uid: 1000}, 0o2755, 0, 1000, false},
		{facts{uid: 1000}, 0o2745, 0, 50, false}, // a lock, and no privilege
		{facts{uid: 0}, 0o4755, 1000, 0, true},   // root without the capability
	} {
		if got := c.d.takesPrivileges(&unix.Stat_t{Mode: c.mode, Uid: c.uid, Gid: c.gid}, 1000); got != c.want {
			t.Errorf("%+v, mode %o of %d and %d: %v", c.d, c.mode, c.uid, c.gid, got)
		}
	}
}

// TestDenied: only a refusal is explained, and the kernel's error is kept.
func TestDenied(t *testing.T) {
	var e *AttachError
	if err := Denied(7, unix.ESRCH); !errors.As(err, &e) || e.Err != unix.ESRCH || e.Hint() != "" {
		t.Errorf("%#v", err)
	}
	if err := Denied(os.Getpid(), unix.EPERM); !errors.Is(err, unix.EPERM) || !strings.HasPrefix(err.Error(), "cannot attach to process ") {
		t.Errorf("%v", err)
	}
}
