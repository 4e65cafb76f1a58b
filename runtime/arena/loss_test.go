package arena

import (
	"slices"
	"strings"
	"testing"

	"gotap/runtime/outcome"
)

func TestTraps(t *testing.T) {
	a := newArena(t)
	for i := range uint64(3) {
		a.Trapped(outcome.TrapRead, 5, 17, i)
	}
	a.Trapped(outcome.TrapFuel, 5, 17, 0)
	a.Trapped(outcome.NoTrap, 5, 17, 0)
	a.Trapped(outcome.NumTraps, 5, 17, 0)
	want := []TrapCount{{outcome.TrapRead, 5, 17, 2, 3}, {outcome.TrapFuel, 5, 17, 0, 1}}
	got := a.Traps()
	slices.SortFunc(got, func(x, y TrapCount) int { return int(y.Count) - int(x.Count) })
	if !slices.Equal(got, want) || a.TrapTotal(outcome.TrapRead) != 3 || a.TrapTotal(outcome.NoTrap) != 0 {
		t.Errorf("%+v", got)
	}
	for i := range uint32(5000) { // more places than the table has
		a.Trapped(outcome.TrapUser, 1, i, 0)
	}
	if a.TrapTotal(outcome.TrapUser) != 5000 || len(a.Traps()) > trapSlots {
		t.Error("places beyond the table are not counted")
	}
	for trap := outcome.NoTrap; trap < outcome.NumTraps; trap++ {
		if trap.Error() == "" || strings.HasPrefix(trap.String(), "unknown") {
			t.Errorf("trap %d has no text", trap)
		}
	}
}
