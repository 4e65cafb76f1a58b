package engine

import (
	"fmt"
	"testing"

	"gotap/engine/testenv"
	"gotap/runtime"
	"gotap/runtime/opcode"
)

// TestInlineWatched: watchpoints report the same accesses from the same addresses whether the instructions have no
// probe, are stepped, or run in copies; what programs read themselves is not reported.
func TestInlineWatched(t *testing.T) {
	t.Parallel()
	testenv.Require(t, testenv.AMD64, testenv.Ptrace, testenv.Watched)
	path := program(t, "watched.c", "-static", "-no-pie")
	alone, _ := watched(t, path, Step, false)
	if alone.writes != 3*watchedRounds || alone.accesses != 4*watchedRounds+1 { // main reads cell at the end
		t.Errorf("without probes: %+v", alone)
	}
	for _, engine := range []Engine{Step, Inline, Mixed} {
		got, st := watched(t, path, engine, true)
		if got != alone {
			t.Errorf("%v: %+v, without probes %+v", engine, got, alone)
		}
		if engine != Step && st.Inline == 0 {
			t.Errorf("%v: no hit was inline: %+v", engine, st)
		}
	}
}

const watchedRounds = 500

// met is what watchpoints have reported: how often, and the sums of the program counters.
type met struct{ writes, accesses, atWrites, atAccesses int64 }

func watched(t *testing.T, path string, engine Engine, probed bool) (met, Stats) {
	w := newWorld(t, Config{Engine: engine, Follow: FollowThreads})
	tg := w.launch(path, fmt.Sprint(watchedRounds))
	var counts [4]*counter
	for i := range counts {
		counts[i] = w.counter()
	}
	hits, read := w.counter(), w.counter()
	if probed {
		w.probe("first", Handlers{Enter: w.code(runtime.Inst{Op: opcode.Arg, A: 1}, runtime.Inst{Op: opcode.Load64}, runtime.Inst{Op: opcode.AddGV, V: read.offset()})})
		w.probe("second", Handlers{Enter: w.counts(hits), Leave: w.counts(hits)})
		w.probe("fill+10", Handlers{Enter: w.counts(hits)})
	}
	for i, access := range []string{"w", "rw"} {
		w.probe("watch:cell/8/"+access, Handlers{Enter: w.counts(counts[i])})
		w.probe("watch:cell/8/"+access, Handlers{Enter: w.sums(counts[2+i], opcode.Field, uint32(runtime.FieldPC))})
	}
	w.run()
	want(t, "output", tg.output(), fmt.Sprintf("sum %d cell 7\n", watchedRounds*watchedRounds))
	if probed {
		want(t, "hits", hits.get(), 4*watchedRounds)
		want(t, "values of cell", read.get(), 7*(watchedRounds-1))
	}
	return met{counts[0].get(), counts[1].get(), counts[2].get(), counts[3].get()}, w.Stats()
}
