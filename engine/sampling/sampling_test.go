package sampling

import (
	"math/rand/v2"
	"testing"
	"time"
)

// TestSchedule: looks are a period apart; those that are late or expensive are followed by fewer.
func TestSchedule(t *testing.T) {
	const ms = uint64(time.Millisecond)
	for _, tt := range []struct {
		name       string
		now, spent uint64 // of the first look, which is due at 110 ms
		skipped    uint64
		wait       time.Duration // from now on
	}{
		{"in time", 110 * ms, ms / 2, 0, 10 * time.Millisecond},
		{"a little late", 113 * ms, ms, 0, 7 * time.Millisecond},
		{"three periods late", 145 * ms, ms, 3, 5 * time.Millisecond},
		{"all that is free", 110 * ms, 101 * ms, 0, 10 * time.Millisecond},
		{"more", 110 * ms, 101*ms + 1, 1, 20 * time.Millisecond},
		{"much more", 120 * ms, 111 * ms, 10, 100 * time.Millisecond},
	} {
		s := NewSchedule(10*time.Millisecond, 100*ms)
		if skipped := s.Looked(tt.now, tt.spent); skipped != tt.skipped || s.Wait(tt.now) != tt.wait {
			t.Errorf("%s: %d skipped, the next in %v; want %d and %v", tt.name, skipped, s.Wait(tt.now), tt.skipped, tt.wait)
		}
	}
	s := NewSchedule(10*time.Millisecond, 0)
	now, looks := uint64(0), uint64(0)
	for ; now < 100000*ms; looks++ {
		now += uint64(s.Wait(now))
		s.Looked(now, 20*ms)
	}
	if busy := looks * 20 * ms; busy < now/11 || busy > now/10+uint64(burst)+20*ms {
		t.Errorf("busy for %d of %d ms", busy/ms, now/ms)
	}
	s = NewSchedule(time.Millisecond, 0)
	if s.Wait(5*ms) != 0 {
		t.Errorf("a look that is late waits for %v", s.Wait(5*ms))
	}
}

// TestCredit: a thread that is looked at whenever it runs has a sample for each period of its time.
func TestCredit(t *testing.T) {
	const period = 10 * time.Millisecond
	c := NewCredit(period, 500)
	ran, samples := uint64(500), 0
	for range 10000 {
		ran += rand.Uint64N(uint64(period))
		if lost := c.Ran(ran); lost != 0 {
			t.Fatalf("%d lost", lost)
		}
		if c.Due() {
			c.Sampled()
			samples++
		}
	}
	if want := int((ran - 500) / uint64(period)); samples != want && samples != want+1 {
		t.Errorf("%d samples in %d periods", samples, want)
	}
}

// TestShortThreads: threads that run for a quarter of a period have a sample each fourth time.
func TestShortThreads(t *testing.T) {
	samples := 0
	for range 10000 {
		c := NewCredit(time.Millisecond, 0)
		if c.Ran(uint64(time.Millisecond) / 4); c.Due() {
			samples++
		}
	}
	if samples < 2200 || samples > 2800 {
		t.Errorf("%d samples of 10000", samples)
	}
}

// TestLost: what cannot be sampled is counted.
func TestLost(t *testing.T) {
	c := NewCredit(time.Millisecond, 0)
	lost := c.Ran(uint64(100 * time.Millisecond))
	samples := uint64(0)
	for ; c.Due(); samples++ {
		c.Sampled()
	}
	if lost+samples != 100 || samples != most {
		t.Errorf("%d lost, %d samples", lost, samples)
	}
	if c.Ran(5) != 0 || c.Due() {
		t.Error("a clock that goes back makes samples")
	}
}
