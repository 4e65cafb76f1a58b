package keys

import (
	"os"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestNames: what terminals send for keys (console_codes(4), xterm's ctlseqs).
func TestNames(t *testing.T) {
	for sent, want := range map[string][]string{
		"q":                         {"q"},
		"aß漢":                       {"a", "ß", "漢"},
		"\r\n\t\x7f":                {"enter", "enter", "tab", "backspace"},
		"\x1b":                      {"escape"},
		"\x1b[A\x1bOB\x1b[5~x":      {"up", "down", "pageup", "x"},
		"\x1bOP\x1b[24~":            {"f1", "f12"},
		"\x01\x1a":                  {"ctrl-a", "ctrl-z"},
		"\x00 ":                     {"ctrl-space", " "},
		"\x1b[99;99Rx":              {"x"}, // an answer of the terminal, not a key
		"\x1b[":                     nil,
		"\xff\xfez":                 {"z"},
		"\x1bx":                     {"escape", "x"},
		"\x1b[1;5C\x1b[200~a\x1b[D": {"a", "left"},
	} {
		if got := Names([]byte(sent)); !slices.Equal(got, want) {
			t.Errorf("%q: %q, not %q", sent, got, want)
		}
	}
}

// pty opens a terminal and its other side.
func pty(t *testing.T) (master, terminal *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { master.Close() })
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	fd, _, e := unix.Syscall(unix.SYS_IOCTL, master.Fd(), unix.TIOCGPTPEER, uintptr(unix.O_RDWR|unix.O_NOCTTY))
	if e != 0 {
		t.Fatal(e)
	}
	terminal = os.NewFile(fd, "pty")
	t.Cleanup(func() { terminal.Close() })
	return master, terminal
}

func modeOf(t *testing.T, f *os.File) unix.Termios {
	t.Helper()
	mode, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	return *mode
}

// TestReader: keys arrive singly, without an end of line, and the mode is as before in the end.
func TestReader(t *testing.T) {
	master, terminal := pty(t)
	before := modeOf(t, terminal)
	got := make(chan string, 10)
	r, err := Open(terminal, func(key string) { got <- key })
	if err != nil {
		t.Fatal(err)
	}
	if mode := modeOf(t, terminal); mode.Lflag&(unix.ICANON|unix.ECHO) != 0 || mode.Lflag&unix.ISIG == 0 {
		t.Errorf("flags %#x", mode.Lflag)
	}
	for _, key := range []string{"a", "\x1b[A", "\r"} {
		if _, err := master.WriteString(key); err != nil {
			t.Fatal(err)
		}
		want := Names([]byte(key))[0]
		select {
		case name := <-got:
			if name != want {
				t.Errorf("%q: %q", key, name)
			}
		case <-time.After(time.Minute):
			t.Fatalf("%q does not arrive", key)
		}
	}
	r.Close()
	if after := modeOf(t, terminal); after != before {
		t.Errorf("mode %+v, was %+v", after, before)
	}
}

// TestRestorer: the mode of a reader that did not close is set back, and no other one.
func TestRestorer(t *testing.T) {
	_, terminal := pty(t)
	before := modeOf(t, terminal)
	restore := Restorer(terminal)
	mode := keyMode(before)
	if err := unix.IoctlSetTermios(int(terminal.Fd()), unix.TCSETS, &mode); err != nil {
		t.Fatal(err)
	}
	restore()
	if modeOf(t, terminal) != before {
		t.Error("the mode is not set back")
	}
	other := before
	other.Lflag &^= unix.ECHO
	if err := unix.IoctlSetTermios(int(terminal.Fd()), unix.TCSETS, &other); err != nil {
		t.Fatal(err)
	}
	restore()
	if modeOf(t, terminal) != other {
		t.Error("a mode that the target set is gone")
	}
}

func TestNoTerminal(t *testing.T) {
	f, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := Open(f, func(string) {}); err == nil || err.Error() != "cannot read keys: /dev/null is not a terminal" {
		t.Error(err)
	}
	Restorer(f)()
}
