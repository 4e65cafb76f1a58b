package wire

import (
	"errors"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

const patience = 5 * time.Minute

// newServer serves answers of a test in a directory of its own.
func newServer(t *testing.T, answer func(Request) Reply) *Server {
	t.Helper()
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	s, err := NewServer(os.Getpid(), IdleTime, answer)
	if err != nil {
		t.Fatal(err)
	}
	go s.Serve()
	return s
}

func connect(t *testing.T) *Conn {
	t.Helper()
	dir, err := Open(false)
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

func ask(t *testing.T, c *Conn, q any) (reply Reply) {
	t.Helper()
	if err := errors.Join(c.Send(q, patience), c.Receive(&reply, patience)); err != nil {
		t.Fatal(err)
	}
	return reply
}

func TestServerAnswers(t *testing.T) {
	s := newServer(t, func(q Request) Reply { return Reply{Notes: []string{"asked to " + q.Verb}} })
	c := connect(t)
	for _, verb := range []string{"query", "reset"} {
		if r := ask(t, c, Request{Version: Version, Verb: verb}); r.Version != Version || len(r.Notes) != 1 || r.Notes[0] != "asked to "+verb {
			t.Errorf("%+v", r)
		}
	}
	if r := ask(t, c, []int{1}); r.Error == nil || r.Error.Status != statusUsage || !strings.HasPrefix(r.Error.Text, "cannot read the request: ") {
		t.Errorf("%+v", r)
	}
	s.Close(func() {})
	if _, err := os.Stat(os.Getenv("XDG_RUNTIME_DIR")); err != nil {
		t.Error(err)
	}
}

// TestServerCloses: a request that is being answered is finished, and no further one is taken.
func TestServerCloses(t *testing.T) {
	var frozen atomic.Bool
	began, goOn := make(chan bool), make(chan bool)
	s := newServer(t, func(Request) Reply {
		began <- true
		<-goOn
		return Reply{Notes: []string{"done"}}
	})
	c := connect(t)
	if err := c.Send(Request{Version: Version, Verb: "query"}, patience); err != nil {
		t.Fatal(err)
	}
	<-began
	closed := make(chan bool)
	go func() {
		s.Close(func() { frozen.Store(true) })
		close(closed)
	}()
	close(goOn)
	var reply Reply
	if err := c.Receive(&reply, patience); err != nil || len(reply.Notes) != 1 {
		t.Errorf("%+v: %v", reply, err)
	}
	<-closed
	if !frozen.Load() {
		t.Error("freeze was not called")
	}
	if err := c.Receive(&reply, patience); err == nil {
		t.Error("the connection goes on")
	}
}

// TestStopKeepsTheConnection: a client that asked for the end sees it when the process ends, not before.
func TestStopKeepsTheConnection(t *testing.T) {
	s := newServer(t, func(Request) Reply { return Reply{} })
	c := connect(t)
	ask(t, c, Request{Version: Version, Verb: "stop"})
	s.Close(func() {})
	var none Reply
	if err := c.Receive(&none, 50*time.Millisecond); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%v", err)
	}
}

// TestDescribe: a session describes itself; of one that is not there, or answers something else, the number is known.
func TestDescribe(t *testing.T) {
	described := true
	s := newServer(t, func(q Request) Reply {
		if q.Verb != "session" || !described {
			return Reply{}
		}
		return Reply{Session: &Session{ID: os.Getpid(), Script: "a.js"}}
	})
	dir, err := Open(false)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	all := dir.Describe([]int{os.Getpid(), 1})
	if len(all) != 2 || all[0].Script != "a.js" || all[0].ID != os.Getpid() || all[1].ID != 1 || all[1].Script != "(does not answer)" {
		t.Errorf("%+v", all)
	}
	described = false
	if all := dir.Describe([]int{os.Getpid()}); all[0].ID != os.Getpid() || all[0].Script != "(does not answer)" {
		t.Errorf("%+v", all)
	}
	s.Close(func() {})
}

func TestCheckInsert(t *testing.T) {
	for _, c := range []struct {
		request Request
		want    string
	}{
		{Request{}, ""},
		{Request{Replace: true, Missing: "warn"}, ""},
		{Request{Merge: true, Missing: "ignore"}, ""},
		{Request{Missing: "error"}, ""},
		{Request{Replace: true, Merge: true}, "--replace and --merge exclude each other"},
		{Request{Missing: "maybe"}, `--missing is error, warn or ignore, not "maybe"`},
	} {
		got := ""
		if err := c.request.CheckInsert(); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%+v: %q, want %q", c.request, got, c.want)
		}
	}
}
