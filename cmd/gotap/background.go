package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"gotap/cmd/gotap/datafile"
	"gotap/cmd/gotap/status"
)

// A session in the background (--background) has a supervisor like any other, but the supervisor is not the process
// that the user started. That process starts the supervisor in a kernel session of its own, so that no terminal sends
// it SIGHUP, waits for a line on a pipe, prints the line, and ends. Until then all of them use the user's standard
// streams, so errors at the start are printed there. Afterwards the session's status lines go to the file of -o with
// the suffix .err; without -o they are dropped, and errors and losses are records of the log targets.

// backgroundWord marks the supervisor and the session of a run in the background; the number of the pipe follows.
const backgroundWord = "__background"

// enterBackground takes the pipe that reports readiness.
func (w World) enterBackground() (World, error) {
	if len(w.Args) < 2 || w.Args[0] != backgroundWord {
		return w, nil
	}
	fd, err := strconv.Atoi(w.Args[1])
	if err != nil {
		return w, status.With(status.Usage, fmt.Errorf("%s is for gotap itself", backgroundWord))
	}
	if w.control != nil {
		unix.CloseOnExec(fd) // the traced program must not hold the pipe
	}
	w.background = os.NewFile(uintptr(fd), "background")
	w.Args = w.Args[2:]
	return w, nil
}

// launchBackground starts the supervisor and waits until the session is ready, or has failed.
func launchBackground(w *World) error {
	exe, err := ownProgram()
	if err != nil {
		return status.With(status.Target, err)
	}
	var pipe [2]int
	if err := unix.Pipe2(pipe[:], 0); err != nil {
		return status.With(status.Failure, fmt.Errorf("cannot make a pipe: %w", err))
	}
	unix.CloseOnExec(pipe[0])
	argv := append([]string{"gotap", backgroundWord, strconv.Itoa(pipe[1])}, w.Args...)
	pid, err := syscall.ForkExec(exe, argv, &syscall.ProcAttr{
		Env:   os.Environ(),
		Files: []uintptr{w.Stdin.Fd(), w.Stdout.Fd(), w.Stderr.Fd()},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
	unix.Close(pipe[1])
	if err != nil {
		return status.With(status.Failure, fmt.Errorf("cannot start a session: %w", err))
	}
	return awaitBackground(w, os.NewFile(uintptr(pipe[0]), "background"), pid)
}

func awaitBackground(w *World, ready *os.File, pid int) error {
	defer ready.Close()
	line, err := bufio.NewReader(ready).ReadString('\n')
	if err != nil { // the session has ended before
		if err := awaitSession(pid, func() {}); err != nil {
			return err
		}
		return status.With(status.Failure, errors.New("the session ended before it was ready"))
	}
	id := strings.TrimSpace(line)
	if _, err := fmt.Fprintf(w.Stdout, "session %s supervisor %d\n", id, pid); err != nil {
		return status.With(status.Failure, err)
	}
	return nil
}

// leaveStreams closes the supervisor's copies of a background session's streams and pipe, so that their readers see the
// session close them.
func (w *World) leaveStreams() {
	if w.background == nil {
		return
	}
	w.background.Close()
	redirect(0, 1, 2)
}

// redirect replaces standard streams with /dev/null. On error they stay.
func redirect(streams ...int) {
	f, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return
	}
	defer f.Close()
	for _, fd := range streams {
		unix.Dup3(int(f.Fd()), fd, 0)
	}
}

// checkBackground refuses a background session that writes nowhere.
func (p *plan) checkBackground() error {
	if !p.background {
		return nil
	}
	for _, t := range p.logNames {
		if t == "terminal" {
			return errors.New("--background leaves the terminal: --log terminal excludes it")
		}
	}
	if p.output == "" && len(p.logNames) == 0 {
		return status.Hinted(errors.New("--background needs somewhere to write"), "-o FILE, or --log "+logTargetUse)
	}
	return nil
}

// readExits reads the script of --exits.
func (p *plan) readExits() (err error) {
	if p.exits != "" {
		p.beside, err = readFile(p.exits)
	}
	p.beside.Dir = filepath.Dir(p.exits)
	return err
}

// commandInput returns the standard input of COMMAND.
func (r *run) commandInput() *os.File {
	if r.w.background == nil {
		return r.w.Stdin
	}
	f, err := os.Open(os.DevNull)
	if err != nil {
		return r.w.Stdin
	}
	return f
}

// leaveTerminal detaches a background session from the terminal.
func (r *run) leaveTerminal() error {
	to := r.w.background
	if to == nil {
		return nil
	}
	var lines *os.File // of status
	if r.plan.output != "" {
		var err error
		if lines, err = datafile.Create(r.plan.output + ".err"); err != nil {
			return status.With(status.Failure, fmt.Errorf("cannot run in the background: %w", err))
		}
		defer lines.Close()
	}
	if _, err := fmt.Fprintf(to, "%d\n", os.Getpid()); err != nil {
		r.note("the process that started this session has ended: %v", err)
	}
	redirect(0, 1)
	if lines == nil {
		redirect(2)
	} else {
		unix.Dup3(int(lines.Fd()), 2, 0)
	}
	to.Close()
	return nil
}
