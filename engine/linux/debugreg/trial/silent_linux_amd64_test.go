package trial

import "testing"

// TestSilent: registers that watch nothing report nothing, which is how a processor looks that lacks them.
func TestSilent(t *testing.T) {
	if reported, err := try(0); err != nil || reported {
		t.Errorf("reported %v, %v", reported, err)
	}
}
