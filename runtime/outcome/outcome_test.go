package outcome

import (
	"errors"
	"fmt"
	"testing"
)

// TestTexts: every trap has a text of its own, and a number that is none has one too.
func TestTexts(t *testing.T) {
	seen := map[string]Trap{}
	for trap := NoTrap; trap <= NumTraps; trap++ {
		text := trap.String()
		if other, ok := seen[text]; text == "" || ok || trap.Error() != text {
			t.Errorf("trap %d: %q, as %d", trap, text, other)
		}
		seen[text] = trap
	}
}

// TestTrapsAreErrors: callers find a trap in a wrapped error.
func TestTrapsAreErrors(t *testing.T) {
	err := fmt.Errorf("probe 3: %w", TrapRead)
	if !errors.Is(err, TrapRead) || errors.Is(err, TrapWrite) {
		t.Error(err)
	}
}

// TestNumbers: other executors and the arena use these numbers.
func TestNumbers(t *testing.T) {
	if ExitPlain != 0 || ExitFacility != 5 || NoTrap != 0 || TrapRead != 2 || TrapUser != 13 || TrapModule != 20 || TrapRunTime != 21 || TrapWide != 22 {
		t.Error("a number has changed its meaning")
	}
}
