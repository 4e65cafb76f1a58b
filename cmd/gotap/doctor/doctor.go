// Package doctor examines what this machine and user can trace, and suggests remedies for the rest.
package doctor

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"

	"gotap/engine"
	"gotap/engine/linux/procfs"
)

// A Finding is one line of the doctor: what was looked at, whether it is well, and the remedy when it is not.
type Finding struct {
	what   string
	well   bool
	seen   string
	remedy string
}

// Examine returns what was found. program is the file of this program, which the trial starts, or why it is not known.
func Examine(program string, unknown error) []Finding {
	return []Finding{processor(), processes(), yama(), privileges(), userNamespace(), seccomp(), memoryFile(), trial(program, unknown)}
}

// Print writes a finding as a line, and its remedy below it.
func (f Finding) Print(to io.Writer) {
	mark := "ok  "
	if !f.well {
		mark = "note"
	}
	fmt.Fprintf(to, "%s  %-12s %s\n", mark, f.what, f.seen)
	if !f.well && f.remedy != "" {
		fmt.Fprintf(to, "                   %s\n", f.remedy)
	}
}

// processor checks whether processes of this machine can be probed; a remote target has its own processor.
func processor() Finding {
	f := Finding{what: "processor", well: true, seen: runtime.GOARCH}
	switch runtime.GOARCH {
	case "amd64", "arm64", "arm":
	default:
		f.well, f.remedy = false, "this build can check and list scripts; probing live processes needs x86-64, AArch64 or ARM"
	}
	return f
}

// processes is /proc, where everything about processes is read.
func processes() Finding {
	f := Finding{what: "/proc", well: true, seen: "of this pid namespace"}
	var wrong *procfs.Error
	if errors.As(procfs.Check(), &wrong) {
		f.well, f.seen, f.remedy = false, wrong.Error(), wrong.Hint()
	}
	return f
}

// unknown returns a finding that needs /proc; the finding about /proc has the remedy.
func unknown(what string) Finding { return Finding{what: what, seen: "not known without /proc"} }

// yama returns the security module that limits who may be attached to (kernel documentation, LSM/Yama).
func yama() Finding {
	f := Finding{what: "ptrace", well: true, seen: "attach: your own processes (no yama)"}
	text, err := os.ReadFile("/proc/sys/kernel/yama/ptrace_scope")
	switch _, mounted := os.Stat("/proc/sys/kernel"); {
	case mounted != nil:
		return unknown(f.what)
	case err != nil:
		return f
	}
	switch strings.TrimSpace(string(text)) {
	case "0":
		f.seen = "attach: your own processes (yama scope 0)"
	case "1":
		f.well = hasCapability(unix.CAP_SYS_PTRACE)
		f.seen = "attach: only programs started by gotap, or with CAP_SYS_PTRACE (yama scope 1)"
		f.remedy = "as root: sysctl kernel.yama.ptrace_scope=0, or: setcap cap_sys_ptrace+ep on gotap's binary"
	case "2":
		f.well = hasCapability(unix.CAP_SYS_PTRACE)
		f.seen = "attach: with CAP_SYS_PTRACE only (yama scope 2)"
		f.remedy = "run gotap as root, or: setcap cap_sys_ptrace+ep on its binary"
	default:
		f.well, f.seen = false, "no attach at all (yama scope 3)"
		f.remedy = "the scope can only be lowered by a reboot; starting a program under gotap fails as well"
	}
	return f
}

// privileges finds whose processes can be traced. The capability counts, which root in a container often lacks.
func privileges() Finding {
	able := hasCapability(unix.CAP_SYS_PTRACE)
	switch {
	case os.Geteuid() == 0 && able && !hasCapability(unix.CAP_DAC_OVERRIDE):
		return Finding{what: "user", seen: "root without CAP_DAC_OVERRIDE: only root's processes, as the memory of others cannot be opened",
			remedy: "in a container: --cap-add=DAC_OVERRIDE; elsewhere start gotap from a shell that has the capability"}
	case os.Geteuid() == 0 && able:
		return Finding{what: "user", well: true, seen: "root: processes of all users"}
	case os.Geteuid() == 0:
		return Finding{what: "user", seen: "root without CAP_SYS_PTRACE: only root's processes that have no more capabilities than this one",
			remedy: "in a container: --cap-add=SYS_PTRACE; elsewhere start gotap from a shell that has the capability"}
	case able:
		return Finding{what: "user", well: true, seen: fmt.Sprintf("uid %d with CAP_SYS_PTRACE: processes of all users", os.Geteuid())}
	}
	return Finding{what: "user", well: true, seen: fmt.Sprintf("uid %d: processes of this user", os.Geteuid())}
}

// hasCapability checks the effective set with a system call, because /proc may be missing.
func hasCapability(n int) bool {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var sets [2]unix.CapUserData // of capabilities 0 to 31 and 32 to 63
	return unix.Capget(&header, &sets[0]) == nil && sets[n/32].Effective>>(n%32)&1 != 0
}

// userNamespace finds out whether this is the machine's user namespace: root of another one has no rights outside
// (user_namespaces(7)).
func userNamespace() Finding {
	f := Finding{what: "namespace", well: true, seen: "the machine's users"}
	text, err := os.ReadFile("/proc/self/uid_map")
	switch _, mounted := os.Stat("/proc/self"); {
	case mounted != nil:
		return unknown(f.what)
	case err != nil:
		return Finding{what: "namespace", well: true, seen: "no user namespaces"}
	}
	if strings.Join(strings.Fields(string(text)), " ") != "0 0 4294967295" {
		f.well, f.seen = false, "a user namespace: processes outside of it cannot be traced, not even by its root"
		f.remedy = "run gotap outside of it, where processes inside have numbers as well (pgrep, lsns)"
	}
	return f
}

// seccomp finds a filter of system calls: in containers it is the usual reason for an unexpected EPERM.
func seccomp() Finding {
	f := Finding{what: "seccomp", well: true, seen: "no filter on this process"}
	mode, err := unix.PrctlRetInt(unix.PR_GET_SECCOMP, 0, 0, 0, 0)
	if mode == unix.SECCOMP_MODE_FILTER || err != nil && !errors.Is(err, unix.EINVAL) { // EINVAL: the kernel has no filters; another error comes from a filter
		f.well, f.seen = false, "a filter is in force; ptrace may be forbidden by it: the trial below tells"
		f.remedy = "in a container: --cap-add=SYS_PTRACE, or --security-opt seccomp=unconfined"
	}
	return f
}

func memoryFile() Finding {
	f := Finding{what: "memfd", well: true, seen: "available"}
	fd, err := unix.MemfdCreate("gotap-doctor", unix.MFD_CLOEXEC)
	if err != nil {
		return Finding{what: "memfd", seen: fmt.Sprintf("not available: %v", err), remedy: "anonymous memory is used instead; nothing is lost"}
	}
	unix.Close(fd)
	return f
}

// trial does what gotap run does first: it starts a program, this one, and stops it before its first instruction.
func trial(program string, unknown error) Finding {
	f := Finding{what: "trial", well: true, seen: "a program was started and stopped before its first instruction"}
	err := unknown
	if err == nil {
		err = startAndStop(program)
	}
	if err == nil {
		return f
	}
	f.well, f.seen, f.remedy = false, "no program can be traced: "+err.Error(), "look at the notes above"
	var hinted interface{ Hint() string }
	if errors.As(err, &hinted) && hinted.Hint() != "" {
		f.remedy = hinted.Hint()
	}
	return f
}

func startAndStop(self string) error {
	s, err := engine.New(engine.Config{})
	if err != nil {
		return err
	}
	pid, err := s.Launch(engine.Command{Path: self, Args: []string{self, "help"}})
	if pid != 0 {
		unix.Kill(pid, unix.SIGKILL)
	}
	s.Close(true)
	if pid != 0 {
		unix.Wait4(pid, nil, 0, nil) // it may have been reaped already
	}
	return err
}
