package arm

import (
	"encoding/binary"
	"testing"
)

// TestHarness runs one addition both ways.
func TestHarness(t *testing.T) {
	s := newState(false, binary.LittleEndian.AppendUint32(nil, 0xe0810002))
	s.regs[1], s.regs[2] = 40, 2
	if executed, _, _ := checkStates(t, []state{s}); executed != 1 {
		t.Errorf("executed %d of 1", executed)
	}
}
