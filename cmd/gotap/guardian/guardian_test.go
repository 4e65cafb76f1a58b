package guardian

import (
	"bytes"
	"maps"
	"os"
	"os/exec"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// sockets are a session's and a supervisor's.
func sockets(t *testing.T) (session *os.File, supervisor int) {
	t.Helper()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(pair[1]) })
	return os.NewFile(uintptr(pair[0]), "session"), pair[1]
}

func TestReports(t *testing.T) {
	session, supervisor := sockets(t)
	g := New(supervisor)
	r := NewReporter(session)
	r.Process(7, true)
	r.Process(1<<21, true)
	r.Process(7, false)
	r.Stub("localhost:1234")
	session.Close()
	select {
	case <-g.over:
	case <-time.After(5 * time.Minute):
		t.Fatal("the end of the session is not seen")
	}
	if want := map[int]bool{1 << 21: true}; !maps.Equal(g.pids, want) || g.stub != "localhost:1234" {
		t.Errorf("processes %v, stub %q", g.pids, g.stub)
	}
}

// TestNobodyListens: reports to nobody, and to a supervisor that has ended, do nothing.
func TestNobodyListens(t *testing.T) {
	NewReporter(nil).Process(7, true)
	session, supervisor := sockets(t)
	unix.Shutdown(supervisor, unix.SHUT_RDWR)
	r := NewReporter(session)
	for range 10_000 {
		r.Process(7, true)
	}
}

// TestRestore: processes that have ended, and those without breakpoints, are left alone in silence.
func TestRestore(t *testing.T) {
	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	session, supervisor := sockets(t)
	g := New(supervisor)
	NewReporter(session).Process(gone.Process.Pid, true)
	session.Close()
	var said bytes.Buffer
	if g.Restore(&said); said.Len() != 0 {
		t.Errorf("%s", said.String())
	}
}
