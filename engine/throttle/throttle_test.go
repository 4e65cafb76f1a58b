package throttle

import "testing"

func want[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// TestRecent: targets that are stopped for most of the time are slow, although some windows are quiet; those that are
// for few of them are not.
func TestRecent(t *testing.T) {
	for share, slow := range map[float64]bool{0.9: true, 0.4: false} {
		var r recent
		var average float64
		for i := range 3 * slowWindows {
			now := share
			if i%4 == 3 {
				now = 0.1
			}
			a, ok := r.add(now)
			want(t, "enough windows", ok, i >= slowWindows-1)
			average = a
		}
		want(t, "slow", average > 0.5, slow)
	}
}

// TestMeter feeds windows of known lengths.
func TestMeter(t *testing.T) {
	m := meter{kept: 50}
	want(t, "share", m.share(200), 0.25)
	want(t, "several threads kept at once", (&meter{kept: 500}).share(200), 1)
	want(t, "allowance", newMeter(0.1).allowance, uint64(Window/10))
}

// TestTogether: what is learnt of cheap stops on one CPU does not count for those on two.
func TestTogether(t *testing.T) {
	b := Throttle{meter: newMeter(0)}
	b.Together(false)
	want(t, "before", b.meter.latency, uint64(firstLatency))
	b.Together(true)
	b.meter.latency = 1000
	b.Together(true)
	want(t, "on one CPU", b.meter.latency, 1000)
	b.Together(false)
	want(t, "on two again", b.meter.latency, uint64(firstLatency))
}
