package limits_test

import (
	"gotap/script"
	"gotap/script/scripttest"
	"strings"
	"testing"
	"time"
)

// TestEndlessRegExp: a pattern that backtracks for ever is ended like a loop, with its place, and the run goes on.
func TestEndlessRegExp(t *testing.T) {
	stuck := make(chan error, 1)
	r := scripttest.New(t, `
probe("f", { enter(c) { exit({ n: c.arg0 }); }, exit(e) {
  if (e.n === 1) console.log(/^(?=(a+)+$)(a+)+\1$/.test("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"));
  console.log("after", e.n);
} });
`, func(o *script.Options) {
		o.Deadline = 500 * time.Millisecond
		o.Stuck = func(err error) { stuck <- err }
	})
	got := r.Once(func() {
		r.Enter(0, 1)
		r.Enter(0, 2)
	})
	scripttest.WantLines(t, got, "after 2")
	if errs := r.Errors.String(); !strings.Contains(errs, "script.js:3:") || !strings.Contains(errs, "still running after 500ms") {
		t.Error(errs)
	}
	select {
	case err := <-stuck:
		t.Error(err)
	default:
	}
}
