package gotap

import (
	"slices"
	"testing"

	"gotap/script/output"
)

// TestOutcomes: what is reported of targets, once each, and what their status is for a shell.
func TestOutcomes(t *testing.T) {
	ended := func(status, signal int, dumped bool) output.Target {
		return output.Target{Pid: 1, Ended: true, Status: status, Signal: signal, Dumped: dumped}
	}
	for _, c := range []struct {
		end    output.Target
		asked  bool
		line   string
		status int
	}{
		{ended(0, 0, false), false, "", 0},
		{ended(2, 0, false), false, "ls: exit status 2", 2},
		{ended(2, 0, false), true, "ls: exit status 2", 2},
		{ended(0, 11, true), false, "ls: killed by SIGSEGV (core dumped)", 139},
		{ended(0, 11, true), true, "ls: killed by SIGSEGV (core dumped)", 139},
		{ended(0, 9, false), true, "ls: killed by SIGKILL", 137},
		{ended(0, 15, false), false, "ls: killed by SIGTERM", 143},
		{ended(0, 15, false), true, "", 143},
		{ended(0, 2, false), true, "", 130},
		{ended(143, 0, false), false, "ls: exit status 143", 143},
		{ended(143, 0, false), true, "", 143},
		{ended(130, 0, false), true, "", 130},
		{ended(0, 34, false), false, "ls: killed by signal 34", 162},
	} {
		var o outcomes
		o.expect("ls", 1)
		o.note(c.end)
		o.note(ended(77, 0, false)) // a later process of the same number
		o.note(output.Target{Pid: 2, Ended: true, Status: 5})
		lines := o.unreported(c.asked)
		if line := append(lines, "")[0]; line != c.line || len(lines) > 1 || o.status() != c.status {
			t.Errorf("%+v, asked %v: %q, status %d; want %q, %d", c.end, c.asked, lines, o.status(), c.line, c.status)
		}
		if again := o.unreported(false); again != nil {
			t.Errorf("%+v is reported twice: %q", c.end, again)
		}
	}
}

// TestSeveralOutcomes: processes of one name are distinguished by their numbers, and none of them is the status.
func TestSeveralOutcomes(t *testing.T) {
	var o outcomes
	o.expect("a", 1)
	o.expect("a", 2)
	o.note(output.Target{Pid: 2, Ended: true, Status: 3})
	if lines := o.unreported(false); !slices.Equal(lines, []string{"a: exit status 3 (process 2)"}) || o.status() != 0 {
		t.Errorf("%q, status %d", lines, o.status())
	}
	o.note(output.Target{Pid: 1, Ended: true, Signal: 9})
	if lines := o.unreported(false); !slices.Equal(lines, []string{"a: killed by SIGKILL (process 1)"}) {
		t.Errorf("%q", lines)
	}
	o.forget()
	if len(o.targets()) != 0 {
		t.Errorf("targets %v", o.targets())
	}
}
