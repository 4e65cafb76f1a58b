package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"gotap/cmd/gotap/guardian"
	"gotap/cmd/gotap/keys"
	"gotap/cmd/gotap/status"
	"gotap/cmd/gotap/terminal"
	"gotap/cmd/gotap/views"
	"gotap/engine/linux/procfs"
)

// sessionWord is the hidden first argument of a session process; the number of its control pipe follows.
const sessionWord = "__session"

// Messages of the supervisor in the control pipe. The end of the pipe means that the supervisor has ended.
const (
	controlInterrupt = 'i' // Ctrl-C
	controlTerminate = 't'
	controlDump      = 'u' // SIGUSR1
)

// enterSession recognises a session process by its arguments and takes its control pipe.
func (w World) enterSession() (World, error) {
	if len(w.Args) < 2 || w.Args[0] != sessionWord {
		return w, nil
	}
	pipe, ignored, _ := strings.Cut(w.Args[1], ":")
	fd, err := strconv.Atoi(pipe)
	if err != nil {
		return w, status.With(status.Usage, fmt.Errorf("%s is for gotap itself", sessionWord))
	}
	ignoreAgain(ignored)
	unix.CloseOnExec(fd) // the traced program must not hold the pipe
	w.control = os.NewFile(uintptr(fd), "control")
	w.Args = w.Args[2:]
	return w, nil
}

// waiting returns the processes of gotap that wait for this session: its supervisor, and with --background the one that
// started it.
func (w *World) waiting() (pids []int) {
	if w.control == nil {
		return nil
	}
	supervisor := os.Getppid()
	pids = append(pids, supervisor)
	if w.background != nil {
		if launcher, err := strconv.Atoi(procfs.Status(supervisor, "PPid")); err == nil {
			pids = append(pids, launcher)
		}
	}
	return pids
}

// supervise runs this command line again as a session, and stays beside it until it ends (see the package's
// documentation for why). The session inherits every descriptor, so --ready-fd and shell redirections work. screen: the
// session has the terminal for its live view.
func supervise(w *World, screen bool) error {
	exe, err := ownProgram()
	if err != nil {
		return status.With(status.Target, err)
	}
	pipe, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET, 0) // messages stay whole
	if err != nil {
		return status.With(status.Failure, fmt.Errorf("cannot make a pair of sockets: %w", err))
	}
	unix.CloseOnExec(pipe[1])
	// From here on signals are passed to the session through the pipe.
	signals, ignored := make(chan os.Signal, 16), ignoredSignals()
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGQUIT, syscall.SIGUSR1)
	if !signal.Ignored(syscall.SIGHUP) { // a program started by nohup survives its terminal
		signal.Notify(signals, syscall.SIGHUP)
	}
	argv := []string{"gotap", sessionWord, strconv.Itoa(pipe[0]) + ignored}
	if w.background != nil {
		argv = append(argv, backgroundWord, strconv.Itoa(int(w.background.Fd())))
	}
	argv = append(argv, w.Args...)
	pid, err := syscall.ForkExec(exe, argv, &syscall.ProcAttr{
		Env:   os.Environ(),
		Files: []uintptr{w.Stdin.Fd(), w.Stdout.Fd(), w.Stderr.Fd()},
	})
	if err != nil {
		return status.With(status.Failure, fmt.Errorf("cannot start a session: %w", err))
	}
	unix.Close(pipe[0])
	go passSignals(signals, pipe[1], w.background != nil)
	targets := guardian.New(pipe[1])
	for _, f := range []*os.File{w.Stdin, w.Stderr, w.Stdout} {
		if terminal.Is(f) {
			defer keys.Restorer(f)()
			break
		}
	}
	rescue := func() {}
	if screen {
		rescue = views.Rescuer(views.Streams{Out: w.Stdout})
	}
	w.leaveStreams()
	leaveInherited()
	return awaitSession(pid, func() {
		rescue()
		targets.Restore(w.errs())
	})
}

// ownProgram returns the file of this program, from which sessions and the demonstration are started. It is found in
// /proc, so an error about /proc comes first.
func ownProgram() (string, error) {
	exe, err := os.Executable()
	if err == nil {
		return exe, nil
	}
	return "", cmp.Or(procfs.Check(), fmt.Errorf("cannot find gotap's own program: %w", err))
}

// leaveInherited closes the descriptors that the session has inherited too, except the standard streams, so that the
// reader of --ready-fd sees its end when the session closes it. Descriptors that Go and gotap open themselves are
// closed on exec, which distinguishes them.
func leaveInherited() {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return
	}
	for _, e := range entries {
		fd, err := strconv.Atoi(e.Name())
		if err != nil || fd <= 2 {
			continue
		}
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			unix.Close(fd)
		}
	}
}

// Signals that were ignored when gotap was started, by nohup or by a shell for a background job, have to be ignored in
// COMMAND too. Go's runtime leaves SIGHUP and SIGINT ignored until a program asks for them, which the supervisor does,
// and leaves the signals of job control alone; for other signals nothing is known once Go has started.

// ignoredSignals writes the signals that are ignored now and will not be, as a tail of the pipe's number: ":1,2".
func ignoredSignals() string {
	var list []string
	for _, s := range []syscall.Signal{syscall.SIGHUP, syscall.SIGINT} {
		if signal.Ignored(s) {
			list = append(list, strconv.Itoa(int(s)))
		}
	}
	if len(list) == 0 {
		return ""
	}
	return ":" + strings.Join(list, ",")
}

// ignoreAgain ignores the signals of a list, in the session and what it starts.
func ignoreAgain(list string) {
	for _, number := range strings.Split(list, ",") {
		if s, err := strconv.Atoi(number); err == nil {
			signal.Ignore(syscall.Signal(s))
		}
	}
}

// passSignals writes signals into the control pipe; SIGINT and SIGUSR1 may come more than once. In the background
// SIGHUP is ignored, because gotap has no terminal.
func passSignals(signals <-chan os.Signal, control int, background bool) {
	var pressed presses
	for s := range signals {
		if background && s == syscall.SIGHUP || s == syscall.SIGINT && !pressed.counts(time.Now()) {
			continue
		}
		word := byte(controlTerminate)
		switch s {
		case syscall.SIGINT:
			word = controlInterrupt
		case syscall.SIGUSR1:
			word = controlDump
		}
		unix.Write(control, []byte{word}) // the session may have ended already
	}
}

// awaitSession waits for the session and returns its status as an error. killed is called when a signal has ended it.
func awaitSession(pid int, killed func()) error {
	for {
		var ws syscall.WaitStatus
		_, err := syscall.Wait4(pid, &ws, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case err != nil:
			return status.With(status.Failure, fmt.Errorf("cannot wait for the session: %w", err))
		case ws.Signaled():
			killed()
			err := status.With(status.Failure, fmt.Errorf("the session was ended by signal %d (%v)", int(ws.Signal()), ws.Signal()))
			if ws.Signal() == syscall.SIGKILL {
				err = status.Hinted(err, "somebody has sent it, or the kernel because memory ran out, which its log (dmesg) tells")
			}
			return err
		case ws.Exited() && ws.ExitStatus() != 0:
			return status.Silent(ws.ExitStatus())
		case ws.Exited():
			return nil
		}
	}
}
