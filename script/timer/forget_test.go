package timer

import (
	"testing"
	"time"

	"gotap/script/jsvm"
	"gotap/script/output"
	"gotap/script/source"
)

// run runs a text on a machine that has timers.
func run(t *testing.T, text string) (*Timers, *[]int) {
	t.Helper()
	m := jsvm.New(jsvm.Options{Files: source.NewFiles(nil, false), Out: output.Discard, Deadline: time.Minute, HeapLimit: 1 << 30})
	t.Cleanup(m.Close)
	called := &[]int{}
	ts := New(m, func(nth int) { *called = append(*called, nth) })
	m.Define("every", ts.Every)
	m.Define("setTimeout", ts.SetTimeout)
	if _, err := m.VM.RunString(text); err != nil {
		t.Fatal(err)
	}
	return ts, called
}

// A stopped timer is forgotten, and the others keep their numbers.
func TestStoppedTimersAreForgotten(t *testing.T) {
	ts, _ := run(t, `every("1h", () => {}); for (let i = 0; i < 1000; i++) every("1h", () => {}).stop(); every("1h", () => {});`)
	if len(ts.list) != 2 || ts.list[1].nth != 1001 {
		t.Errorf("%d timers, the last is number %d", len(ts.list), ts.list[len(ts.list)-1].nth)
	}
}

// Overdue timers are called once each, the longest due first; one that is called once is forgotten.
func TestTick(t *testing.T) {
	ts, called := run(t, `every("2s", () => {}); every("1s", () => {}); setTimeout(() => {}, "3s"); every("1h", () => {});`)
	now := time.Now()
	if first := ts.Earliest(time.Time{}); first.After(now.Add(2*time.Second)) || first.Before(now) {
		t.Errorf("the first timer is due in %v", first.Sub(now))
	}
	ts.Tick(now.Add(time.Minute))
	if want := []int{1, 0, 2}; len(*called) != 3 || (*called)[0] != want[0] || (*called)[1] != want[1] || (*called)[2] != want[2] {
		t.Errorf("called %v, want %v", *called, want)
	}
	if len(ts.list) != 3 {
		t.Errorf("%d timers are left", len(ts.list))
	}
	ts.m.Stopped.Store(true)
	if ts.Tick(now.Add(time.Hour)); len(*called) != 3 {
		t.Error("a stopped script's timers are called")
	}
}
