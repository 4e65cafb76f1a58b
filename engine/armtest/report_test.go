package armtest

import (
	"strings"
	"testing"
)

// TestFailures checks that the report of a long log contains the failures and nothing else.
func TestFailures(t *testing.T) {
	const console = `guest: engine.test one
=== RUN   TestGood
    good_test.go:1: all is well
--- PASS: TestGood (0.01s)
=== RUN   TestMixed
=== RUN   TestMixed/bad
    mixed_test.go:2: want 1, have 2
--- FAIL: TestMixed (0.02s)
    --- FAIL: TestMixed/bad (0.01s)
=== RUN   TestAfter
    after_test.go:3: quiet
--- PASS: TestAfter (0.01s)
    --- PASS: TestAfter/sub (0.01s)
FAIL
guest: took 1.0 s: exit status 1
guest: gotap run fine.js
fine
guest: took 1.0 s: <nil>
guest: gotap run bad.js
bad.js: oh
guest: took 1.0 s: exit status 2
`
	whole := Failures(console + "gotap guest done: 1\n")
	for _, want := range []string{"one", "want 1, have 2", "--- FAIL: TestMixed/bad", "bad.js: oh", "exit status 2"} {
		if !strings.Contains(whole, want) {
			t.Errorf("the report lacks %q:\n%s", want, whole)
		}
	}
	for _, not := range []string{"all is well", "quiet", "fine", "after the last"} {
		if strings.Contains(whole, not) {
			t.Errorf("the report has %q:\n%s", not, whole)
		}
	}
	if cut := Failures(console + "guest: engine.test two\n=== RUN   TestHung\n"); !strings.Contains(cut, "TestHung") {
		t.Errorf("the report lacks the test that did not end:\n%s", cut)
	}
}
