package remote

import (
	"strings"
	"testing"

	"gotap/engine/backend"
	"gotap/engine/report"
)

// TestRetries: an instruction that is tried again is recognized once, by its address and the stack pointer.
func TestRetries(t *testing.T) {
	st := stops{retries: map[retry]bool{}}
	st.expectRetry(1, 2)
	for i, c := range []struct {
		addr, sp uint64
		want     bool
	}{{1, 3, false}, {2, 2, false}, {1, 2, true}, {1, 2, false}} {
		if got := st.takeRetry(c.addr, c.sp); got != c.want {
			t.Errorf("%d: at %d with the stack pointer %d: %v", i, c.addr, c.sp, got)
		}
	}
	st.expectRetry(1, 2)
	if st.replaced(); st.takeRetry(1, 2) {
		t.Error("the instruction of another program is tried again")
	}
}

// TestStrays: a target that keeps stopping where nothing is gets one warning.
func TestStrays(t *testing.T) {
	var warnings []string
	s := &Session{cfg: Config{Config: backend.Config{Warn: func(text string) { warnings = append(warnings, text) }}}}
	s.report = reporter{report.New(&s.cfg.Config), &s.threads}
	s.stops = stops{s: s}
	for n := range 3 * maxStrays {
		s.stops.stray(n != maxStrays-1, 0x1234)
	}
	if len(warnings) != 1 || !strings.Contains(warnings[0], "0x1234") {
		t.Errorf("warned %q", warnings)
	}
}
