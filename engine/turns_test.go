package engine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestThreadsTakeTurns lets eight threads hit a probe as fast as they can. None of them goes much less often than the
// others: without turns the oldest goes 3 to 300 times where it is to go 5,000 times.
func TestThreadsTakeTurns(t *testing.T) {
	t.Parallel()
	path := program(t, "turns.c")
	for inPlace, rounds := range map[bool]int{false: scaled(12000, 40000), true: scaled(2000, 4000)} {
		for _, e := range []Engine{Step, Emulate, Auto} {
			t.Run(fmt.Sprintf("%v in place %v", e, inPlace), func(t *testing.T) {
				w := newWorld(t, Config{Engine: e, Follow: FollowThreads})
				w.do(func() error { w.patcher.InPlaceOnly(inPlace); return nil })
				tg := w.launch(path, strconv.Itoa(rounds))
				w.probe("leaf", Handlers{Enter: w.counts(w.counter())})
				w.run()
				var calls []int
				for line := range strings.Lines(tg.output()) {
					n, _ := strconv.Atoi(strings.TrimSpace(line))
					calls = append(calls, n)
				}
				if len(calls) != 8 || slices.Min(calls) < rounds/8/20 {
					t.Errorf("the threads called it %d times", calls)
				}
			})
		}
	}
}
