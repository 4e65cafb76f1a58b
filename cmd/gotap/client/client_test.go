package client

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"gotap/cmd/gotap/status"
	"gotap/cmd/gotap/wire"
)

// serve makes this process a session that answers in a directory of the test's own.
func serve(t *testing.T, answer func(wire.Request) wire.Reply) {
	t.Helper()
	dir, err := os.MkdirTemp("", "gotap-client-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	t.Setenv("XDG_RUNTIME_DIR", dir)
	s, err := wire.NewServer(os.Getpid(), time.Minute, answer)
	if err != nil {
		t.Fatal(err)
	}
	go s.Serve()
	t.Cleanup(func() { s.Close(func() {}) })
}

// asked returns what a client prints for the answer.
func asked(t *testing.T, c Client, q wire.Request) (out, errs string, err error) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	err = c.Report(c.Do(q))
	return stdout.String(), stderr.String(), err
}

func TestAnswerIsPrinted(t *testing.T) {
	serve(t, func(q wire.Request) wire.Reply {
		if q.Verb != "query" || q.Version != wire.Version {
			t.Errorf("the session is asked %+v", q)
		}
		return wire.Reply{Version: wire.Version, Notes: []string{"one\x1b[0m note"}, Probes: []wire.Probe{
			{ID: 1, Name: "a", State: "active", Hits: 3, Places: 1, Strategy: map[string]int{"step": 1}, Kind: "function",
				Sites: []wire.Site{{Place: "x:f", Address: "0x10"}}},
			{ID: 2, Name: "longer", State: "pending", Codes: &wire.Codes{Major: 2, Minor: 7}}}}
	})
	for _, session := range []int{0, os.Getpid()} {
		out, errs, err := asked(t, Client{Session: session}, wire.Request{Verb: "query"})
		const want = "a       active   3 hits  0 missed  1 place   1 step, function, x:f 0x10\n" +
			"longer  pending  0 hits  0 missed  0 places  codes 2,7\n"
		if err != nil || out != want || errs != "gotap: one\\x1b[0m note\n" {
			t.Errorf("%v\n%s%s", err, out, errs)
		}
	}
	if _, errs, _ := asked(t, Client{Quiet: true}, wire.Request{Verb: "query"}); errs != "" {
		t.Errorf("a quiet client prints %q", errs)
	}
	out, _, err := asked(t, Client{JSON: true}, wire.Request{Verb: "query"})
	var types []string
	for d := json.NewDecoder(strings.NewReader(out)); d.More(); {
		var record struct{ Type string }
		if err := d.Decode(&record); err != nil {
			t.Fatalf("%v in %s", err, out)
		}
		types = append(types, record.Type)
	}
	if err != nil || strings.Join(types, " ") != "probe probe done" {
		t.Errorf("%v: records %v", err, types)
	}
}

// A refusal keeps the session's text, hint and status; a diagnostic is printed as the session wrote it.
func TestRefusal(t *testing.T) {
	why := &wire.Error{Text: "no such probe", Hint: "query lists them", Status: status.NoProbe}
	serve(t, func(wire.Request) wire.Reply { return wire.Reply{Version: wire.Version, Error: why} })
	_, errs, err := asked(t, Client{}, wire.Request{Verb: "remove"})
	if err == nil || err.Error() != why.Text || status.HintOf(err) != why.Hint || status.Of(err) != why.Status || errs != "" {
		t.Errorf("%v (%s), status %d, printed %q", err, status.HintOf(err), status.Of(err), errs)
	}
	out, _, err := asked(t, Client{JSON: true}, wire.Request{Verb: "remove"})
	var printed *status.Error
	if out != `{"type":"error","text":"no such probe","hint":"query lists them"}`+"\n" || !errors.As(err, &printed) || printed.Cause != nil || printed.Status != why.Status {
		t.Errorf("%v, printed %q", err, out)
	}
	why = &wire.Error{Text: "a.js:1:1: error: x", Status: status.Usage, Shown: true}
	if _, errs, err := asked(t, Client{}, wire.Request{Verb: "insert"}); errs != why.Text+"\n" || status.Of(err) != status.Usage {
		t.Errorf("%v, printed %q", err, errs)
	}
}

func TestNoSession(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	for session, want := range map[int]string{0: "no session of this user is running", 1 << 30: "no session 1073741824 of this user is running"} {
		if _, err := (&Client{Session: session}).Exchange(wire.Request{Verb: "query"}); err == nil || err.Error() != want || status.Of(err) != status.Target {
			t.Errorf("session %d: %v, status %d", session, err, status.Of(err))
		}
	}
}
