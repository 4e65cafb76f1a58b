package syscallnames

import "testing"

func TestRestarts(t *testing.T) {
	for _, c := range []struct {
		result int64
		want   bool
	}{
		{-512, true}, {-513, true}, {-514, true}, {-516, true}, {-515, false}, {-511, false}, {-517, false}, {512, false}, {0, false},
		{0xffff_fe00, false}, {0xffff_fdfc, false}, // of which 32 bits are the same
	} {
		if got := Restarts(uint64(c.result)); got != c.want {
			t.Errorf("%d: %v", c.result, got)
		}
	}
}
