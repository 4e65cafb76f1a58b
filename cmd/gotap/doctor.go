package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"
)

// A finding is one line of the doctor: what was looked at, whether it is well, and the remedy when it is not.
type finding struct {
	what   string
	well   bool
	seen   string
	remedy string
}

func newDoctor(w *World) *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Tell what this machine and user can do, and the remedy for what they cannot",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			for _, f := range []finding{processor(), yama(), privileges(), seccomp(), memoryFile()} {
				mark := "ok  "
				if !f.well {
					mark = "note"
				}
				fmt.Fprintf(w.Stdout, "%s  %-12s %s\n", mark, f.what, f.seen)
				if !f.well && f.remedy != "" {
					fmt.Fprintf(w.Stdout, "                   %s\n", f.remedy)
				}
			}
			return nil
		},
	}
}

func processor() finding {
	f := finding{what: "processor", well: runtime.GOARCH == "amd64", seen: runtime.GOARCH}
	f.remedy = "this build can check and list scripts; probing live processes needs x86-64"
	return f
}

// yama is the security module that limits who may be attached to (kernel documentation, LSM/Yama).
func yama() finding {
	f := finding{what: "ptrace", well: true, seen: "attach: your own processes (no yama)"}
	text, err := os.ReadFile("/proc/sys/kernel/yama/ptrace_scope")
	if err != nil {
		return f
	}
	switch strings.TrimSpace(string(text)) {
	case "0":
		f.seen = "attach: your own processes (yama scope 0)"
	case "1":
		f.well = os.Geteuid() == 0
		f.seen = "attach: only programs started by gotap, or as root (yama scope 1)"
		f.remedy = "sysctl kernel.yama.ptrace_scope=0, or run gotap with CAP_SYS_PTRACE"
	case "2":
		f.well = os.Geteuid() == 0
		f.seen = "attach: with CAP_SYS_PTRACE only (yama scope 2)"
		f.remedy = "run gotap as root, or: setcap cap_sys_ptrace+ep on its binary"
	default:
		f.well, f.seen = false, "no attach at all (yama scope 3)"
		f.remedy = "the scope can only be lowered by a reboot; starting a program under gotap fails as well"
	}
	return f
}

func privileges() finding {
	if os.Geteuid() == 0 {
		return finding{what: "user", well: true, seen: "root: processes of all users"}
	}
	return finding{what: "user", well: true, seen: fmt.Sprintf("uid %d: processes of this user", os.Geteuid())}
}

// seccomp filters of containers are the usual reason for an EPERM nobody understands.
func seccomp() finding {
	f := finding{what: "seccomp", well: true, seen: "no filter on this process"}
	status, err := os.ReadFile("/proc/self/status")
	if err == nil && strings.Contains(string(status), "Seccomp:\t2") {
		f.well, f.seen = false, "a filter is in force; ptrace may be forbidden by it"
		f.remedy = "in a container: --cap-add=SYS_PTRACE, or --security-opt seccomp=unconfined"
	}
	return f
}

func memoryFile() finding {
	f := finding{what: "memfd", well: true, seen: "available"}
	fd, err := unix.MemfdCreate("gotap-doctor", unix.MFD_CLOEXEC)
	if err != nil {
		return finding{what: "memfd", seen: fmt.Sprintf("not available: %v", err), remedy: "anonymous memory is used instead; nothing is lost"}
	}
	unix.Close(fd)
	return f
}
