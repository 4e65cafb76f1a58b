package command

import (
	"errors"
	"os"
	"syscall"

	"gotap/engine/backend"
)

// Fork creates a child of the calling thread that is traced by it (PTRACE_TRACEME) and stops behind its exec of the
// file that Find has returned. If it is leashed, the kernel kills it when this thread ends. Only the three standard
// files are passed on. Signal mask and dispositions are those that we were started with. A file that the kernel cannot
// run is passed to the shell, as execvp does. Errors are those of execve, with the cause where the file shows it.
func Fork(c *backend.Command, path string, leashed bool) (pid int, err error) {
	std := func(f, ours *os.File) uintptr {
		if f == nil {
			f = ours
		}
		return f.Fd()
	}
	attr := &syscall.ProcAttr{
		Dir: c.Dir, Env: c.Env,
		Files: []uintptr{std(c.Stdin, os.Stdin), std(c.Stdout, os.Stdout), std(c.Stderr, os.Stderr)},
		Sys:   &syscall.SysProcAttr{Ptrace: true},
	}
	if leashed {
		attr.Sys.Pdeathsig = syscall.SIGKILL
	}
	if attr.Env == nil {
		attr.Env = os.Environ()
	}
	args := c.Args
	if len(args) == 0 {
		args = []string{c.Path}
	}
	pid, err = syscall.ForkExec(path, args, attr)
	file := At(c, path)
	if errors.Is(err, syscall.ENOEXEC) && !isELF(file) { // as execvp and shells do
		return syscall.ForkExec("/bin/sh", append([]string{"sh", path}, args[1:]...), attr)
	}
	return pid, unstartable(file, err)
}
