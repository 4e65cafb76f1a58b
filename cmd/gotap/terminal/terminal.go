// Package terminal knows the user's terminal: whether a file is one, how wide it is, whether it shows colours, and a
// line of progress on it. A Progress has a goroutine of its own between the first Set and Set(""); all else is done by
// the caller's.
package terminal

import (
	"os"

	"golang.org/x/sys/unix"
)

// Is reports whether a file is a terminal.
func Is(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}

// Coloured reports whether to write colours to a file: on a terminal, unless NO_COLOR is set (no-color.org) or the
// terminal is "dumb".
func Coloured(f *os.File) bool {
	return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && Is(f)
}

// Columns returns the width of the terminal that a file is, 0 when it is none.
func Columns(f *os.File) int {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0
	}
	return int(size.Col)
}
