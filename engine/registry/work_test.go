package registry

import "testing"

// Programs that run out of fuel now and then do not disable their probe.
func TestExhaust(t *testing.T) {
	pr := &Probe{Enabled: true}
	now := uint64(5e9)
	for range 10 * MostExhausted {
		if now += exhaustedTime/(MostExhausted-1) + 1; pr.Exhaust(now) {
			t.Fatal("disabled by fewer than the limit in a second")
		}
	}
	for range MostExhausted {
		if now++; pr.Exhaust(now) {
			if pr.Enabled || !pr.Exhausted || pr.Exhaust(now) {
				t.Errorf("%+v", pr)
			}
			return
		}
	}
	t.Error("not disabled")
}
