package main

import (
	"testing"
	"time"
)

// TestPresses: an interrupt that timeout(1) sends twice is one; a user's second Ctrl-C, and the third after it, count.
func TestPresses(t *testing.T) {
	start := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	var p presses
	for _, c := range []struct {
		after time.Duration
		want  bool
	}{{0, true}, {time.Microsecond, false}, {samePress - 1, false}, {samePress, true}, {samePress + 1, false}, {2 * samePress, true}, {time.Hour, true}} {
		if got := p.counts(start.Add(c.after)); got != c.want {
			t.Errorf("an interrupt %v after the first counts: %v", c.after, got)
		}
	}
}
