package engine

import (
	"fmt"
	"strings"
	"testing"

	"gotap/engine/testenv"
	"gotap/runtime"
	"gotap/runtime/opcode"
)

// readsFirst is a program that adds up the bytes at the first argument.
func (w *world) readsFirst(sum *counter) *runtime.Code {
	return w.code(runtime.Inst{Op: opcode.Arg}, runtime.Inst{Op: opcode.Load8}, runtime.Inst{Op: opcode.AddGV, V: sum.offset()})
}

// TestInlineReadsFault: memory that native code has read is not readable any more at the next hit. The program gets no
// signal, its actions and masks stay, and the probe reads exactly what is there.
func TestInlineReadsFault(t *testing.T) {
	testenv.Require(t, testenv.AMD64, testenv.Ptrace)
	readsFault(t)
}

// readsFault is TestInlineReadsFault.
func readsFault(t *testing.T) {
	for _, c := range []struct {
		line   string
		faults bool // native code reads, and faults
	}{
		{"unmap none 3", true}, {"protect none 3", true}, {"truncate none 2", true},
		{"unmap handler 2", true}, {"truncate handler 2", true},
		{"unmap handler-rawblock 1", true}, {"truncate handler-rawall 1", true}, {"unmap none-rawall 1", true},
		{"unmap ignore 1", false}, {"truncate block 1", false},
	} {
		t.Run(c.line, func(t *testing.T) {
			w := newInlineWorld(t, FollowThreads)
			tg := w.launch(program(t, "readers.c"), strings.Fields(c.line)...)
			sum := w.counter()
			w.probe("look", Handlers{Enter: w.readsFirst(sum)})
			w.run()
			want(t, "output", tg.output(), fmt.Sprintf("readers %d bad=0\n", sum.get()))
			if q := w.Query()[0]; q.Strategy["inline"] != 1 {
				t.Errorf("%+v", q)
			}
			s := w.Stats()
			// On a busy machine the session sees that a signal is blocked before the first read faults: it looks every second.
			seen := s.ReadFaults == 0 && strings.Contains(c.line, "raw")
			if (s.ReadFaults > 0) != c.faults && !seen {
				t.Errorf("%d reads faulted", s.ReadFaults)
			}
			const round = 2000 // reads at least; after a fault it may take longer than that until they are native again
			if native := sum.get()-int64(s.Hits) > round/2; native != c.faults {
				t.Errorf("%d stops for %d reads", s.Hits, sum.get())
			}
		})
	}
}

// TestInlineReadsRace: a thread makes memory come and go while a probe in another one reads it.
func TestInlineReadsRace(t *testing.T) {
	for _, how := range []string{"unmap", "protect", "truncate"} {
		for _, signals := range []string{"none", "handler"} {
			t.Run(how+" "+signals, func(t *testing.T) {
				w := inlineWorld(t, FollowThreads)
				tg := w.launch(program(t, "readers.c"), "race-"+how, signals, "400")
				sum := w.counter()
				w.probe("look", Handlers{Enter: w.readsFirst(sum)})
				w.run()
				q := w.Query()[0]
				want(t, "output", tg.output(), fmt.Sprintf("readers %d bad=0\n", q.Hits))
				if n := uint64(sum.get()); n == 0 || n > q.Hits {
					t.Errorf("%d bytes read at %d hits", n, q.Hits)
				}
				t.Logf("%d of %d read, %d faults, %d stops", sum.get(), q.Hits, w.Stats().ReadFaults, w.Stats().Hits)
			})
		}
	}
}
