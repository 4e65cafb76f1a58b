package engine

import (
	"fmt"
	"testing"

	"gotap/engine/testenv"
	"gotap/runtime/opcode"
)

// TestReturnsOfPieces follows calls of functions that also return from a part that the compiler has moved elsewhere,
// with every engine.
func TestReturnsOfPieces(t *testing.T) {
	testenv.Require(t, testenv.AMD64)
	path := program(t, "pieces.c")
	const calls = 60
	eachEngine(t, func(t *testing.T, e Engine) {
		w := newWorld(t, Config{Engine: e, Follow: FollowThreads})
		tg := w.launch(path, fmt.Sprint(calls))
		says := fmt.Sprint(calls)
		functions := []string{"checked", "split"}
		var enters, leaves, sums []*counter
		for _, f := range functions {
			n, m, sum := w.counter(), w.counter(), w.counter()
			w.probe(f, Handlers{Enter: w.counts(n), Leave: w.counts(m)})
			w.probe(f, Handlers{Leave: w.sums(sum, opcode.Retval, 0)})
			enters, leaves, sums = append(enters, n), append(leaves, m), append(sums, sum)
		}
		w.run()
		for i, f := range functions {
			want(t, "enters, leaves of "+f, [2]int64{enters[i].get(), leaves[i].get()}, [2]int64{calls, calls})
			says += fmt.Sprintf(" %s %d", f, sums[i].get())
		}
		want(t, "sums of results", says+"\n", tg.output())
	})
}
