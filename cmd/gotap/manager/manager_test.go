package manager

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gotap"
	"gotap/cmd/gotap/client"
	"gotap/cmd/gotap/status"
	"gotap/cmd/gotap/wire"
	"gotap/engine/testenv"
)

// patience is how long tests wait for what takes a moment when nothing else is to be done: only what hangs takes as
// long.
const patience = 5 * time.Minute

// runtimeDir gives the test a directory for sockets of its own.
func runtimeDir(t *testing.T) string {
	dir := filepath.Join(t.TempDir(), strings.Repeat("long/", 30), "run") // longer than the address of a socket may be
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_RUNTIME_DIR", dir)
	return dir
}

// newTestManager is a manager without a session: good for everything that is refused before the session is asked.
func newTestManager(t *testing.T) *Manager { return newPatientManager(t, wire.IdleTime) }

// newPatientManager is one that lets clients be silent for a time while others wait for their places.
func newPatientManager(t *testing.T, idle time.Duration) *Manager {
	m, err := Start(Config{Session: new(gotap.Session), Idle: idle})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

func dial(t *testing.T) *wire.Conn {
	t.Helper()
	dir, err := wire.Open(false)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	c, err := dir.Connect(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// rawDial is a connection for what no client of ours says.
func rawDial(t *testing.T) net.Conn {
	t.Helper()
	dir, err := os.Open(filepath.Join(os.Getenv("XDG_RUNTIME_DIR"), "gotap"))
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	c, err := net.Dial("unix", fmt.Sprintf("/proc/self/fd/%d/%d%s", dir.Fd(), os.Getpid(), wire.Suffix)) // the path itself is too long for an address
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(patience))
	return c
}

func TestGarbageRequests(t *testing.T) {
	runtimeDir(t)
	newTestManager(t)
	for _, line := range []string{
		"", "{", "null", "[]", "7", `"query"`, "{}", `{"v":1}`, `{"v":1,"verb":"nix"}`, `{"v":2,"verb":"query"}`, `{"v":"1"}`,
		"GET / HTTP/1.1\r", strings.Repeat("[", 1<<20), "\x00\xff\xfe", `{"v":1,"verb":"insert"}`, `{"v":1,"verb":["query"]}`,
	} {
		c := rawDial(t)
		replies := json.NewDecoder(c)
		for range 2 { // the connection is as good as before
			if _, err := io.WriteString(c, line+"\n"); err != nil {
				t.Fatalf("%.40q: %v", line, err)
			}
			var reply wire.Reply
			if err := replies.Decode(&reply); err != nil {
				t.Fatalf("%.40q: %v", line, err)
			}
			if reply.Error == nil || reply.Error.Status != status.Usage || reply.Version != wire.Version {
				t.Errorf("%.40q: %+v", line, reply)
			}
		}
	}
}

// A panic in a verb is told and ends nothing: the next client is served.
func TestPanicIsAnAnswer(t *testing.T) {
	runtimeDir(t)
	newTestManager(t)
	for range 2 {
		_, err := client.Ask(dial(t), wire.Request{Verb: "query"}) // no session answers
		if err == nil || status.Of(err) != status.Failure || !strings.Contains(err.Error(), "internal error") {
			t.Errorf("%v", err)
		}
	}
}

// What is longer than any request is cut off, before it fills memory.
func TestEndlessLine(t *testing.T) {
	runtimeDir(t)
	newTestManager(t)
	n, err := io.Copy(rawDial(t), io.LimitReader(zeros{}, 1<<30))
	if err == nil || errors.Is(err, os.ErrDeadlineExceeded) || n > 2*wire.MaxLine {
		t.Errorf("%d bytes went out: %v", n, err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// Clients that are silent or half done do not keep others from being served, nor the session from ending.
func TestSilentClients(t *testing.T) {
	runtimeDir(t)
	m := newTestManager(t)
	for i := range wire.MaxClients - 4 {
		io.WriteString(rawDial(t), `{"v":1`[:i%6])
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if _, err := client.Ask(dial(t), wire.Request{Verb: "nix"}); status.Of(err) != status.Usage {
				t.Errorf("%v", err)
			}
		})
	}
	wg.Wait()
	began := time.Now()
	m.Close()
	if took := time.Since(began); took > wire.RequestTime {
		t.Errorf("closing took %v", took)
	}
	if _, ids, err := client.Live(); err != nil || len(ids) != 0 {
		t.Errorf("sessions %v, %v", ids, err)
	}
}

// A client that comes when all places are taken waits until one is free, and is answered.
func TestMoreClientsThanPlaces(t *testing.T) {
	testenv.Require(t, testenv.Time)
	runtimeDir(t)
	newPatientManager(t, time.Hour)
	var silent []*wire.Conn
	for range wire.MaxClients {
		silent = append(silent, dial(t))
	}
	answers := make(chan error)
	for range 3 {
		go func() {
			_, err := client.Ask(dial(t), wire.Request{Verb: "nix"})
			answers <- err
		}()
	}
	select {
	case err := <-answers:
		t.Fatalf("answered at once: %v", err)
	case <-time.After(100 * time.Millisecond):
	}
	silent[0].Close()
	for range 3 {
		if err := <-answers; status.Of(err) != status.Usage || !strings.Contains(err.Error(), "no verb") {
			t.Errorf("%v", err)
		}
	}
}

// Clients that hold all places and are silent, many times over, keep nobody out: who says something is answered.
func TestSilentClientsMakeRoom(t *testing.T) {
	runtimeDir(t)
	newPatientManager(t, time.Millisecond)
	for i := range 3 * wire.MaxClients {
		io.WriteString(rawDial(t), `{"v":1`[:i%6])
	}
	for range 3 {
		c := dial(t)
		var reply wire.Reply
		if err := c.Send(wire.Request{Version: wire.Version, Verb: "nix"}, patience); err != nil {
			t.Fatal(err)
		}
		if err := c.Receive(&reply, wire.RequestTime/2); err != nil || reply.Error == nil { // long before the silent ones are given up
			t.Errorf("%v, %+v", err, reply)
		}
	}
}

// A session that ends with a client in its queue breaks the connection; the client finds out whether there is another
// session.
func TestEndedBeforeTheAnswer(t *testing.T) {
	runtimeDir(t)
	m := newPatientManager(t, time.Hour)
	for range wire.MaxClients {
		dial(t)
	}
	waiting := make(chan error)
	go func() {
		k := new(client.Client)
		_, err := k.Exchange(wire.Request{Verb: "query"})
		waiting <- err
	}()
	time.Sleep(100 * time.Millisecond) // it may also come later: then there is no session
	m.Close()
	if err := <-waiting; err == nil || !strings.Contains(err.Error(), "no session of this user is running") {
		t.Errorf("%v", err)
	}
}

// A socket that a killed session left is removed; one whose session lives stays, and so does what is no socket of ours.
func TestStaleSockets(t *testing.T) {
	run := runtimeDir(t)
	newTestManager(t)
	dir, err := wire.Open(true)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	old, err := dir.Listen(1)
	if err != nil {
		t.Fatal(err)
	}
	old.Close() // as the kernel does
	other := filepath.Join(run, "gotap", "notes")
	if err := os.WriteFile(other, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	// A child that another test is just starting may hold a copy of the listener for a moment.
	ids, err := dir.Sessions()
	for end := time.Now().Add(patience); err == nil && len(ids) != 1 && time.Now().Before(end); {
		ids, err = dir.Sessions()
	}
	if err != nil || len(ids) != 1 || ids[0] != os.Getpid() {
		t.Errorf("sessions %v, %v", ids, err)
	}
	names, _ := os.ReadDir(filepath.Join(run, "gotap"))
	if len(names) != 2 {
		t.Errorf("left are %v", names)
	}
	if _, err := dir.Listen(os.Getpid()); err == nil {
		t.Error("two sessions have one number")
	}
}

// The socket is the user's alone, in a directory that is.
func TestSocketRights(t *testing.T) {
	run := runtimeDir(t)
	before := unix.Umask(0)
	newTestManager(t)
	unix.Umask(before)
	for path, want := range map[string]os.FileMode{
		filepath.Join(run, "gotap"):                                        os.ModeDir | 0o700,
		filepath.Join(run, "gotap", strconv.Itoa(os.Getpid())+wire.Suffix): os.ModeSocket | 0o600,
	} {
		if st, err := os.Lstat(path); err != nil || st.Mode() != want {
			t.Errorf("%s: %v, %v", path, st.Mode(), err)
		}
	}
}

// A directory that is somebody else's, open to others, or a link to elsewhere, is refused.
func TestForeignDirectory(t *testing.T) {
	run := runtimeDir(t)
	own := filepath.Join(run, "gotap")
	for name, prepare := range map[string]func() error{
		"open to others": func() error { return errors.Join(os.Mkdir(own, 0o700), os.Chmod(own, 0o755)) },
		"a link":         func() error { return os.Symlink(t.TempDir(), own) },
		"a file":         func() error { return os.WriteFile(own, nil, 0o600) },
		"foreign": func() error {
			if os.Geteuid() != 0 {
				return os.Symlink("/", own) // only root can give a directory away
			}
			return errors.Join(os.Mkdir(own, 0o700), os.Chown(own, 65534, 65534))
		},
	} {
		if err := prepare(); err != nil {
			t.Fatal(err)
		}
		for _, create := range []bool{false, true} {
			if dir, err := wire.Open(create); err == nil {
				dir.Close()
				t.Errorf("%s: used", name)
			}
		}
		os.RemoveAll(own)
	}
}

// A request survives its way, whatever is in it.
func TestWire(t *testing.T) {
	script := &wire.Script{Name: "a\nb.js", Text: "line\nline\u2028\x00", Args: map[string]string{"a": "ü"}}
	raw, err := json.Marshal(wire.Request{Version: 1, Verb: "insert", Script: script})
	if err != nil || bytes.ContainsRune(raw, '\n') {
		t.Fatalf("%s, %v", raw, err)
	}
	var back wire.Request
	if err := json.Unmarshal(raw, &back); err != nil || back.Script.Name != script.Name || back.Script.Text != script.Text || back.Script.Args["a"] != "ü" {
		t.Errorf("%+v, %v", back, err)
	}
}
