package othertracers_test

import (
	"strings"
	"testing"

	"gotap/cmd/gotap/othertracers"
)

// TestFlags: the same habit has its hint in each command in which gotap has something for it.
func TestFlags(t *testing.T) {
	for _, c := range []struct{ command, flag, hint string }{
		{"trace", "duration", "--for 10s"}, {"trace", "duration=5s", "--for 10s"}, {"run", "duration", "--for 10s"}, {"record", "timeout", "--for 10s"},
		{"run", "c", "come after --"}, {"trace", "c", "--count"}, {"list", "c", "-- COMMAND"},
		{"trace", "tt", "time since"}, {"trace", "k", "--stack"}, {"run", "g", "c.stack"}, {"trace", "follow-forks", "--follow children"},
		{"list", "l", "gotap list ./prog"}, {"list", "x", "./prog:"}, {"trace", "e", "without a flag"},
	} {
		if got := othertracers.Flag(c.command, c.flag); !strings.Contains(got, c.hint) {
			t.Errorf("%s %s: %q does not say %q", c.command, c.flag, got, c.hint)
		}
	}
	for _, c := range [][2]string{{"trace", "nonsense"}, {"bench", "duration"}, {"run", ""}} {
		if got := othertracers.Flag(c[0], c[1]); got != "" {
			t.Errorf("%s %s: %q", c[0], c[1], got)
		}
	}
}

// TestCommands: commands of other tracers have hints.
func TestCommands(t *testing.T) {
	if got := othertracers.Command("attach"); !strings.Contains(got, "-p PID") {
		t.Errorf("attach: %q", got)
	}
	if got := othertracers.Command("run"); got != "" {
		t.Errorf("run: %q", got)
	}
}

// TestValued: flags without their value have a hint if another tracer's have none.
func TestValued(t *testing.T) {
	if got := othertracers.Valued("format"); !strings.Contains(got, "followed without a flag") {
		t.Errorf("format: %q", got)
	}
	if got := othertracers.Valued("output"); got != "" {
		t.Errorf("output: %q", got)
	}
}
