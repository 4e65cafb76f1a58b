package manager

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	gort "runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gotap/cmd/gotap/client"
	"gotap/cmd/gotap/wire"
	"gotap/engine/testenv"
)

// nobody is the user of the same name on every Linux.
const nobody = 65534

// asNobody runs a function on a thread that belongs to another user: Linux has users by thread, the C library's setuid
// alone makes them the process's. The thread is never given back.
func asNobody(t *testing.T, f func() error) error {
	t.Helper()
	testenv.Require(t, testenv.Root)
	done := make(chan error)
	go func() {
		gort.LockOSThread() // without Unlock: it ends with the goroutine
		for _, call := range []uintptr{unix.SYS_SETRESGID, unix.SYS_SETRESUID} {
			if _, _, errno := unix.RawSyscall(call, nobody, nobody, nobody); errno != 0 {
				done <- fmt.Errorf("cannot become user %d: %w", nobody, errno)
				return
			}
		}
		done <- f()
	}()
	return <-done
}

// openedDir is a directory for sockets under which other users get to everything.
func openedDir(t *testing.T) string {
	run, err := os.MkdirTemp("/tmp", "gotap-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(run) })
	t.Setenv("XDG_RUNTIME_DIR", run)
	return run
}

// Another user does not get to the socket; where somebody has changed the rights, the session hangs up without a word.
func TestAnotherUserIsRefused(t *testing.T) {
	testenv.Require(t, testenv.Time)
	run := openedDir(t)
	newTestManager(t)
	socket := filepath.Join(run, "gotap", strconv.Itoa(os.Getpid())+wire.Suffix)
	connect := func() error {
		fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		f := os.NewFile(uintptr(fd), "client")
		defer f.Close()
		if err := unix.Connect(fd, &unix.SockaddrUnix{Name: socket}); err != nil {
			return err
		}
		io.WriteString(f, `{"v":1,"verb":"nix"}`+"\n") // may meet the hanging up
		if answer, _ := io.ReadAll(f); len(answer) > 0 {
			return fmt.Errorf("it answered %s", answer)
		}
		return nil
	}
	if err := asNobody(t, connect); !errors.Is(err, unix.EACCES) {
		t.Errorf("through the directory's rights: %v", err)
	}
	for path, mode := range map[string]os.FileMode{run: 0o755, filepath.Dir(socket): 0o755, socket: 0o666} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := asNobody(t, connect); err != nil {
		t.Errorf("with rights: %v", err)
	}
	if err := connect(); err == nil || !strings.Contains(err.Error(), "no verb") {
		t.Errorf("the session's own user: %v", err)
	}
}

// A client does not speak to a session that somebody else runs.
func TestAnotherUsersSession(t *testing.T) {
	name := fmt.Sprintf("@gotap-test-%d", os.Getpid())
	listener := -1
	err := asNobody(t, func() (err error) {
		if listener, err = unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0); err != nil {
			return err
		}
		return errors.Join(unix.Bind(listener, &unix.SockaddrUnix{Name: name}), unix.Listen(listener, 1))
	})
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(listener)
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if err := unix.Connect(fd, &unix.SockaddrUnix{Name: name}); err != nil {
		t.Fatal(err)
	}
	if err := wire.CheckPeer(fd); err == nil || !strings.Contains(err.Error(), "user 65534") {
		t.Errorf("%v", err)
	}
}

// Who asks while the session ends gets an answer, is told that it ends, or is hung up on: nobody waits, and the end
// does not.
func TestAskedWhileEnding(t *testing.T) {
	runtimeDir(t)
	for range 10 {
		m := newTestManager(t)
		var wg sync.WaitGroup
		for range 8 {
			c := dial(t)
			wg.Go(func() {
				for {
					_, err := client.Ask(c, wire.Request{Verb: "query"}) // it panics here, because no session runs
					switch {
					case err == nil:
						t.Error("there is nothing to answer")
					case strings.Contains(err.Error(), "internal error"):
						continue
					}
					return
				}
			})
		}
		began := time.Now()
		m.Close()
		wg.Wait()
		if took := time.Since(began); took > wire.RequestTime {
			t.Errorf("the end took %v", took)
		}
		if _, err := m.answer(wire.Request{Version: wire.Version, Verb: "query"}); err == nil || err.Error() != "the session is ending" {
			t.Errorf("afterwards: %v", err)
		}
	}
}
