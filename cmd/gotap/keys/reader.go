package keys

import (
	"fmt"
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
)

// Reader reads keys. It must be closed.
type Reader struct {
	terminal *os.File
	before   unix.Termios
	stop     [2]int // a pipe: closing its second end ends the goroutine
	ended    chan struct{}
	signals  chan os.Signal
}

// Open begins to read keys from a terminal, and calls each for every one, on another goroutine. The caller closes the
// file after Close.
func Open(terminal *os.File, each func(key string)) (*Reader, error) {
	before, err := unix.IoctlGetTermios(int(terminal.Fd()), unix.TCGETS)
	if err != nil {
		return nil, fmt.Errorf("cannot read keys: %s is not a terminal", terminal.Name())
	}
	r := &Reader{terminal: terminal, before: *before, ended: make(chan struct{}), signals: make(chan os.Signal, 1)}
	if err := unix.Pipe2(r.stop[:], unix.O_CLOEXEC); err != nil {
		return nil, fmt.Errorf("cannot read keys: %w", err)
	}
	r.setMode(keyMode(r.before))
	signal.Notify(r.signals, unix.SIGCONT)
	go r.read(each)
	return r, nil
}

// keyMode is a terminal's mode for single keys.
func keyMode(mode unix.Termios) unix.Termios {
	mode.Lflag &^= unix.ICANON | unix.ECHO
	mode.Cc[unix.VMIN], mode.Cc[unix.VTIME] = 1, 0
	return mode
}

// Foreground reports whether this process may read from the terminal and change its mode without being stopped.
func Foreground(terminal *os.File) bool {
	group, err := unix.IoctlGetInt(int(terminal.Fd()), unix.TIOCGPGRP)
	return err != nil || group == unix.Getpgrp() // a terminal that is not the controlling one stops nobody
}

func (r *Reader) setMode(mode unix.Termios) {
	if Foreground(r.terminal) {
		unix.IoctlSetTermios(int(r.terminal.Fd()), unix.TCSETS, &mode)
	}
}

// pollTime is how often, in milliseconds, a process in the background looks whether it is in the foreground again.
const pollTime = 500

// read reads until Close, or the end of the terminal.
func (r *Reader) read(each func(string)) {
	defer close(r.ended)
	buf := make([]byte, 256)
	for {
		ready := []unix.PollFd{{Fd: int32(r.stop[0]), Events: unix.POLLIN}, {Fd: int32(r.terminal.Fd()), Events: unix.POLLIN}}
		wait := -1
		if !Foreground(r.terminal) {
			ready, wait = ready[:1], pollTime
		}
		_, err := unix.Poll(ready, wait)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil || ready[0].Revents != 0:
			return
		}
		select {
		case <-r.signals:
			r.setMode(keyMode(r.before))
		default:
		}
		if len(ready) < 2 || ready[1].Revents == 0 || !Foreground(r.terminal) {
			continue
		}
		n, err := unix.Read(int(r.terminal.Fd()), buf)
		if n <= 0 && err != unix.EINTR {
			return
		}
		for _, key := range Names(buf[:max(n, 0)]) {
			each(key)
		}
	}
}

// Close ends the reading and sets the terminal's mode back. No key is reported after it.
func (r *Reader) Close() {
	signal.Stop(r.signals)
	unix.Close(r.stop[1])
	<-r.ended
	unix.Close(r.stop[0])
	r.setMode(r.before)
}

// Restorer remembers the mode of a terminal. The function it returns sets the mode back if it is the one that a Reader
// sets, whose process has been killed.
func Restorer(terminal *os.File) (restore func()) {
	before, err := unix.IoctlGetTermios(int(terminal.Fd()), unix.TCGETS)
	if err != nil {
		return func() {}
	}
	return func() {
		now, err := unix.IoctlGetTermios(int(terminal.Fd()), unix.TCGETS)
		if err == nil && *now == keyMode(*before) && *now != *before && Foreground(terminal) {
			unix.IoctlSetTermios(int(terminal.Fd()), unix.TCSETS, before)
		}
	}
}
