package views

import (
	"golang.org/x/sys/unix"

	"gotap/cmd/gotap/keys"
)

// leaveScreen undoes what the live view asks of a terminal: the other screen, the hidden cursor, marked pastes and the
// modes of the keyboard.
const leaveScreen = "\x1b[>4m\x1b[<1u\x1b[?1049l\x1b[?25h\x1b[?2004l\x1b[0m\r"

// Rescuer remembers the mode of the terminal on which a session is about to show its live view. The function that it
// returns gives the terminal back when the session has been killed. It does nothing if the view had not begun: the mode
// is the same then.
func Rescuer(s Streams) (rescue func()) {
	fd := int(s.Out.Fd())
	before, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err != nil {
		return func() {}
	}
	return func() {
		now, err := unix.IoctlGetTermios(fd, unix.TCGETS)
		if err == nil && *now != *before && keys.Foreground(s.Out) {
			unix.Write(fd, []byte(leaveScreen))
			unix.IoctlSetTermios(fd, unix.TCSETS, before)
		}
	}
}
