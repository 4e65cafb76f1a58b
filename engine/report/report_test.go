package report

import (
	"errors"
	"reflect"
	"slices"
	"testing"

	"gotap/engine/backend"
	"gotap/engine/linux/ptrace"
)

// TestWarn: each text is reported once, whether it is an error's or not.
func TestWarn(t *testing.T) {
	var got []string
	r := New(&backend.Config{Warn: func(text string) { got = append(got, text) }})
	r.Warn("one")
	r.WarnOf(errors.New("two"))
	r.WarnOf(errors.New("one"))
	r.Warn("two")
	r.WarnOf(nil)
	if want := []string{"one", "two"}; !slices.Equal(got, want) {
		t.Errorf("%q, not %q", got, want)
	}
}

// TestNotify: an event is reported as it is, with the time.
func TestNotify(t *testing.T) {
	var got backend.Event
	before := ptrace.Now()
	New(&backend.Config{Notify: func(e backend.Event) { got = e }}).Notify(backend.Event{Kind: backend.EventExit, Pid: 7, Status: 3})
	if got.Time < before || got.Time > ptrace.Now() {
		t.Errorf("time %d", got.Time)
	}
	if got.Time = 0; !reflect.DeepEqual(got, backend.Event{Kind: backend.EventExit, Pid: 7, Status: 3}) {
		t.Errorf("%+v", got)
	}
}

// TestNothing: a session without callbacks reports nothing, and a callback that is set later is called.
func TestNothing(t *testing.T) {
	cfg := &backend.Config{}
	r := New(cfg)
	r.Warn("one")
	r.Notify(backend.Event{})
	said := 0
	cfg.Warn = func(string) { said++ }
	if r.Warn("one"); said != 1 {
		t.Errorf("said %d times", said)
	}
}
