package top

import (
	"os"
	"sync"

	tea "charm.land/bubbletea/v2"

	"gotap/script/output/picture"
)

// A Screen is the live view of a run on a terminal.
type Screen struct {
	program *tea.Program
	done    chan struct{}
	once    sync.Once
	err     error // set before done is closed
}

// Start takes the terminal over. look returns the run as it is now; stop ends it, and is called when the user asks for
// that.
func Start(in, out *os.File, look func() *picture.Picture, stop func()) *Screen {
	s := &Screen{done: make(chan struct{})}
	s.program = tea.NewProgram(newModel(look, stop), tea.WithInput(in), tea.WithOutput(out), tea.WithoutSignalHandler())
	go func() {
		defer close(s.done)
		_, s.err = s.program.Run()
	}()
	return s
}

// Close gives the terminal back. Closing again does nothing. The error is that the terminal could not be used.
func (s *Screen) Close() error {
	s.once.Do(func() { go s.program.Quit() }) // which waits for a program that has not begun
	<-s.done
	return s.err
}
