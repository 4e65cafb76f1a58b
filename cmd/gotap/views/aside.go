package views

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// An aside is a file that stands in for one that is the terminal, while the live view has the terminal. What is written
// to it is dropped, or is written to the terminal afterwards; from then on it is the terminal.
type aside struct {
	file *os.File
	real *os.File
	kept bool
}

// newAside makes a file that keeps what is written to it, or drops it.
func newAside(real *os.File, keep bool) (*aside, error) {
	if !keep {
		f, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
		return &aside{f, real, false}, err
	}
	fd, err := unix.MemfdCreate("gotap", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("cannot keep messages: %w", err)
	}
	return &aside{os.NewFile(uintptr(fd), "messages"), real, true}, nil
}

// back makes the file the terminal and writes what it has kept.
func (a *aside) back() {
	var text []byte
	if a.kept {
		if _, err := a.file.Seek(0, io.SeekStart); err == nil {
			text, _ = io.ReadAll(a.file)
		}
	}
	if unix.Dup3(int(a.real.Fd()), int(a.file.Fd()), unix.O_CLOEXEC) == nil {
		a.file.Write(text)
	}
}
