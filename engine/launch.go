package engine

import (
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"gotap/engine/abi"
	"gotap/engine/linux/ptrace"
)

// command is a program to be launched, with what it takes to do that.
type command Command

// LaunchError is a command that cannot be run.
type LaunchError struct {
	Path string
	Err  error
	help string
}

func (e *LaunchError) Error() string {
	if e.Path == "" {
		return fmt.Sprintf("cannot run %q: %v", e.Path, e.Err)
	}
	return fmt.Sprintf("cannot run %s: %v", e.Path, e.Err)
}

func (e *LaunchError) Unwrap() error { return e.Err }

// Hint says what would help; it may be empty.
func (e *LaunchError) Hint() string { return e.help }

// Launch starts a program and keeps it before the first instruction of its own: a static one where the kernel starts it, another
// when its loader has mapped the libraries it was linked with and not yet touched them, so that probes in those can
// be placed, and their absence told, before any of their code runs.
func (s *Session) Launch(c Command) (pid int, err error) {
	if pid, err = s.Spawn(c); err == nil {
		err = s.Settle(pid)
	}
	return pid, err
}

// Spawn is the first half of Launch: it starts a program and keeps it before its very first instruction, which is one of its loader if it
// has one. What can be probed there may be (see Begin).
func (s *Session) Spawn(what Command) (pid int, err error) {
	c := command(what)
	path, err := c.find()
	if err != nil {
		return 0, &LaunchError{Path: c.Path, Err: err}
	}
	err = s.do(func() error {
		pid, err = s.launch(c, path)
		return err
	})
	if err == nil {
		s.warnPrivileges(c.at(path))
	}
	return pid, err
}

// Settle is the second half of Launch: it has the loader of the program that was spawned last map its libraries. When programs
// of probes hold the thread, somebody has to release it meanwhile.
func (s *Session) Settle(pid int) error {
	var c settle
	err := s.do(func() error {
		if c = s.settling; c.t != nil {
			s.watchEntry(c.t.proc.space)
			c.t.parked = false
			c.t.resume(0)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := s.settled(pid, c.at); err != nil {
		return &LaunchError{Path: c.path, Err: err}
	}
	return nil
}

// find looks the program up as execvp does.
func (c command) find() (string, error) {
	if strings.ContainsRune(c.Path, '/') {
		path := c.Path
		if c.Dir != "" && !filepath.IsAbs(path) {
			path = filepath.Join(c.Dir, path)
		}
		return c.Path, executable(path)
	}
	if c.Path == "" {
		return "", errors.New("it has no name")
	}
	denied := false
	for _, dir := range filepath.SplitList(c.pathList()) {
		if dir == "" {
			dir = "."
		}
		file := filepath.Join(dir, c.Path)
		err := executable(file)
		if err == nil {
			return file, nil
		}
		denied = denied || errors.Is(err, os.ErrPermission)
	}
	if denied {
		return "", errNotExecutable
	}
	return "", exec.ErrNotFound
}

var errNotExecutable = fmt.Errorf("it is not executable: %w", os.ErrPermission)

// at is a path as this process finds it, of one that the command finds in its directory.
func (c command) at(path string) string {
	if c.Dir != "" && !filepath.IsAbs(path) {
		return filepath.Join(c.Dir, path)
	}
	return path
}

// executable reports why a file cannot be run, as far as its name and mode tell.
func executable(file string) error {
	st, err := os.Stat(file)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("no such file: %w", os.ErrNotExist)
	case err != nil:
		return err
	case st.IsDir():
		return fmt.Errorf("it is a directory: %w", os.ErrPermission)
	case st.Mode()&0o111 == 0:
		return errNotExecutable
	}
	return nil
}

func (c command) pathList() string {
	for _, e := range c.Env {
		if v, ok := strings.CutPrefix(e, "PATH="); ok {
			return v
		}
	}
	return os.Getenv("PATH")
}

// launch starts the program under trace, and trades the old kind of tracing that a child can ask for itself for the new
// kind (PTRACE_SEIZE), without which stops of job control cannot be told from others and left alone. The child stops
// at its exec, before its first instruction; it is let go with a SIGSTOP, which stops it again, before that
// instruction; it is seized in that stop, and continued with SIGCONT, which is swallowed. It has run nothing meanwhile.
//
// A session that is killed in the middle would leave it stopped for good, known to nobody. So it is on a leash until the fallback
// is in: the kernel kills it when the tracing thread ends (PR_SET_PDEATHSIG), of which nobody can tell that it ever began. Then it
// is made to take that back itself.
func (s *Session) launch(c command, path string) (int, error) {
	leashed := ptrace.CanSetDeathSignal()
	pid, err := c.fork(path, leashed)
	if err != nil {
		return 0, explainRefused(c, path, err)
	}
	if err := s.seizeChild(pid); err != nil {
		ptrace.SendProcess(pid, ptrace.SIGKILL)
		s.waitFor(pid)
		return 0, explainRefused(c, path, err)
	}
	p := s.newProcess(pid, unopened(), abi.Host()[0])
	p.launched = true
	t := s.newThread(p, pid)
	t.stopped, t.parked = true, true
	if err := s.newImage(t); err != nil {
		ptrace.SendProcess(pid, ptrace.SIGKILL)
		return 0, &LaunchError{Path: c.Path, Err: err}
	}
	if leashed {
		t.unleash()
	}
	s.settling = settle{t, make(chan struct{}), c.Path}
	if p.space.loader.at == 0 {
		s.settleEnd()
	}
	return pid, nil
}

// unleash lets a launched program outlive the tracing thread.
func (t *thread) unleash() {
	const setDeathSignal = 1 // PR_SET_PDEATHSIG
	err := error(syscall.ESRCH)
	if t.getRegs() {
		_, err = t.callKernel(t.proc.arch.Calls.Prctl, setDeathSignal, 0)
	}
	if err != nil && !errors.Is(err, syscall.ESRCH) {
		t.s.warn(fmt.Sprintf("process %d ends when gotap ends: it cannot be told to outlive it: %v", t.proc.pid, err))
	}
}

// fork makes the child, which the kernel kills when this thread ends if it is leashed. Only the three standard files are passed on;
// signal mask and dispositions are those that we were started with. A file that the kernel cannot run is given to the shell, as
// execvp does.
func (c command) fork(path string, leashed bool) (int, error) {
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
	pid, err := syscall.ForkExec(path, args, attr)
	file := path
	if c.Dir != "" && !filepath.IsAbs(file) {
		file = filepath.Join(c.Dir, file)
	}
	if errors.Is(err, syscall.ENOEXEC) && !isELF(file) { // as execvp does, and shells
		return syscall.ForkExec("/bin/sh", append([]string{"sh", path}, args[1:]...), attr)
	}
	return pid, unstartable(file, err)
}

// unstartable says more of an error of execve where the file itself tells why: the kernel says "no such file" of one that is
// there when its interpreter or loader is missing.
func unstartable(file string, err error) error {
	switch {
	case errors.Is(err, syscall.ENOEXEC):
		if f, bad := elf.Open(file); bad == nil {
			defer f.Close()
			return fmt.Errorf("it is a program for %s, which this machine does not run: %w", strings.TrimPrefix(f.Machine.String(), "EM_"), err)
		}
		return fmt.Errorf("it is a damaged program file: %w", err)
	case errors.Is(err, syscall.ENOENT):
		if name := interpreter(file); name != "" {
			return fmt.Errorf("its interpreter %s is not there: %w", name, err)
		}
	}
	return err
}

func isELF(file string) bool { return strings.HasPrefix(head(file), elf.ELFMAG) }

// interpreter is what the kernel runs a file with: the program of a script's first line, or the loader that a program names.
// It is empty when there is none, or when it exists.
func interpreter(file string) string {
	var name string
	if line, ok := strings.CutPrefix(head(file), "#!"); ok {
		line, _, _ = strings.Cut(line, "\n")
		if words := strings.Fields(line); len(words) > 0 {
			name = words[0]
		}
	} else if f, err := elf.Open(file); err == nil {
		defer f.Close()
		for _, p := range f.Progs {
			if p.Type == elf.PT_INTERP && p.Filesz < 4096 {
				text, _ := io.ReadAll(p.Open())
				name = strings.TrimRight(string(text), "\x00")
			}
		}
	}
	if _, err := os.Stat(name); err == nil {
		return ""
	}
	return name
}

// head is the beginning of a file, as much of it as the kernel looks at to know its kind.
func head(file string) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	text, _ := io.ReadAll(io.LimitReader(f, 256))
	return string(text)
}

// seizeChild takes a child over as launch says. All waits are for this one child.
func (s *Session) seizeChild(pid int) error {
	if st, ok := s.waitFor(pid); !ok || !st.Stopped() {
		return errors.New("it ended before it began")
	}
	s.passed()
	if e := ptrace.Detach(pid, ptrace.SIGSTOP); e != 0 {
		return fmt.Errorf("cannot stop it: %w", e)
	}
	s.passed()
	if err := s.waitStopped(pid); err != nil {
		return err
	}
	s.passed()
	if e := ptrace.Seize(pid, options); e != 0 {
		return fmt.Errorf("cannot trace it: %w", e)
	}
	s.passed()
	if st, ok := s.waitFor(pid); !ok || !st.GroupStop() {
		return errors.New("it did not stop")
	}
	s.passed()
	ptrace.SendProcess(pid, ptrace.SIGCONT)
	ptrace.Listen(pid)
	for {
		s.passed()
		st, ok := s.waitFor(pid)
		switch {
		case !ok || !st.Stopped():
			return errors.New("it ended before it began")
		case st.Signal() == ptrace.SIGCONT && st.Event() == ptrace.EventNone:
			return nil
		}
		if e := ptrace.Cont(pid, 0); e != 0 {
			return fmt.Errorf("cannot continue it: %w", e)
		}
	}
}

// waitStopped waits until a child that is not traced has stopped.
func (s *Session) waitStopped(pid int) error {
	var ws syscall.WaitStatus
	for {
		_, err := syscall.Wait4(pid, &ws, syscall.WALL|syscall.WUNTRACED, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return fmt.Errorf("cannot wait for it: %w", err)
		case ws.Stopped():
			return nil
		default:
			return errors.New("it ended before it began")
		}
	}
}

// settled waits until a launched program is where Launch leaves it.
func (s *Session) settled(pid int, at <-chan struct{}) error {
	select {
	case <-at:
	case <-s.loop.dead:
	}
	alive := false
	if err := s.do(func() error { alive = s.procs[pid] != nil; return nil }); err != nil {
		return err
	}
	if !alive {
		return errors.New("it ended before its first instruction")
	}
	return nil
}

// settle is the first thread of a program that is being launched, parked in front of its loader or on its way through it.
type settle struct {
	t    *thread // nil: it is there
	at   chan struct{}
	path string
}

// settleAt reports whether the thread is the one that is being launched, and then keeps it where it is.
func (s *Session) settleAt(t *thread) bool {
	if s.settling.t != t || t.parked {
		return false
	}
	t.parked = true
	s.settleEnd()
	return true
}

// settleEnd ends the wait for a launched program.
func (s *Session) settleEnd() {
	close(s.settling.at)
	s.settling.t = nil
}

// watchEntry puts a breakpoint on the entry point of a program's new image. There its libraries are mapped, whatever
// the loader is.
func (s *Session) watchEntry(sp *space) {
	if len(sp.mods) == 0 || sp.mods[0].File == nil || sp.mods[0].Err != nil || sp.loader.at == 0 {
		return
	}
	m := &sp.mods[0]
	p, err := s.pointTo(sp, m.Addr(m.File.Entry))
	if err != nil || p.internal != nil {
		return
	}
	p.internal = (*thread).atEntry
	s.sync(p)
}

// atEntry runs when a program is entered, once.
func (t *thread) atEntry(p *point) bool {
	p.internal = nil
	t.s.sync(p)
	t.s.rescan(t.proc)
	return t.s.settleAt(t)
}
