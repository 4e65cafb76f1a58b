package views

import (
	"errors"
	"fmt"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"gotap/script/output"
	"gotap/script/output/top"
)

// Streams are the standard streams of a run.
type Streams struct{ In, Out, Err *os.File }

// A terminal is the live view of --top. While it is there, messages for the terminal wait, and data and what COMMAND
// prints are dropped.
type terminal struct {
	output.Sink // drops everything
	real        Streams
	shown       Streams // for the run
	command     Streams // for COMMAND
	asides      []*aside
	screen      *top.Screen // nil: not yet
	once        sync.Once
	err         error
}

func isTerminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}

// newTerminal prepares the view; the terminal is used from show on.
func newTerminal(real Streams) (*terminal, error) {
	switch {
	case !isTerminal(real.Out):
		return nil, mistake{errors.New("--top needs a terminal, and standard output is not a terminal"), "--listen 9100 shows the run in a browser"}
	case !isTerminal(real.In):
		return nil, mistake{errors.New("--top needs the keyboard, and standard input is not a terminal"), "COMMAND gets no input with --top: give it a file, as in -- sh -c 'prog <FILE'"}
	}
	t := &terminal{Sink: output.Discard, real: real, shown: real, command: real}
	put := func(to *os.File, keep bool) *os.File {
		a, err := newAside(to, keep)
		t.err = errors.Join(t.err, err)
		if err != nil {
			return to
		}
		t.asides = append(t.asides, a)
		return a.file
	}
	t.shown.Out = put(real.Out, false)
	if isTerminal(real.Err) {
		t.shown.Err = put(real.Err, true)
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err := errors.Join(t.err, err); err != nil {
		return nil, err
	}
	t.command.In, t.command.Out = null, null
	if isTerminal(real.Err) {
		t.command.Err = null
	}
	return t, nil
}

// show takes the terminal over.
func (v *Views) show(stop func()) {
	t := v.terminal
	t.screen = top.Start(t.real.In, t.real.Out, v.board.Picture, stop)
}

// close gives the terminal back, and writes what had to wait.
func (t *terminal) close() {
	t.once.Do(func() {
		if t.screen != nil {
			if err := t.screen.Close(); err != nil {
				t.err = fmt.Errorf("--top: %w", err)
			}
		}
		for _, a := range t.asides {
			a.back()
		}
	})
}

// End implements output.Sink.
func (t *terminal) End(output.End) { t.close() }

// Err implements output.Sink.
func (t *terminal) Err() error { return t.err }

// Streams returns the streams for the run itself; ok is false when they are those that it has.
func (v *Views) Streams() (s Streams, ok bool) {
	if v == nil || v.terminal == nil {
		return s, false
	}
	return v.terminal.shown, true
}

// CommandStreams returns the streams for COMMAND; ok is false when they are those of the run.
func (v *Views) CommandStreams() (s Streams, ok bool) {
	if v == nil || v.terminal == nil {
		return s, false
	}
	return v.terminal.command, true
}
