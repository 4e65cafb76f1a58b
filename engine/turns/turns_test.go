package turns

import "testing"

// TestTurns checks how many system calls rounds take for each stop, for threads of which all, some and one have stops.
func TestTurns(t *testing.T) {
	const threads, stops = 64, 100_000
	for busy, most := range map[int]float64{64: 1.1, 32: 2.1, 8: 2.3, 2: 2.3, 1: 2.3, 0: 0.04} {
		var turns Turns
		handled, asked, longest := 0, 0, 0
		for last := 0; handled < stops; handled++ { // one that wait(2) reports
			if !turns.Due() {
				continue
			}
			longest, last = max(longest, handled-last), handled
			asked += threads
			handled += busy
			turns.Found(busy, threads)
		}
		if each := float64(asked) / float64(handled); each > most {
			t.Errorf("%d of %d threads have stops: %.2f questions for each", busy, threads, each)
		}
		if busy > 0 && longest > busy+threads {
			t.Errorf("%d of %d threads have stops: a thread waits for %d others", busy, threads, longest)
		}
	}
}
