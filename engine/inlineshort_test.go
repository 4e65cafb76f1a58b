package engine

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"gotap/engine/linux/procfs"
	"gotap/engine/testenv"
)

// shorts are the functions of testdata/short.c.
var shorts = []string{"same", "next", "both", "zero", "twice", "room", "empty"}

// TestInlineShort counts the calls and returns of functions that are shorter than a jump: as many as the program has
// made, while signals interrupt it and it forks. Their entries stop nothing.
func TestInlineShort(t *testing.T) {
	t.Parallel()
	for _, args := range []string{"calls %d000", "calls %d000 timer", "processes %d0"} {
		for _, bells := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s %v", args, bells), func(t *testing.T) {
				w := inlineWorld(t, FollowChildren)
				tg := w.launch(program(t, "short.c"), strings.Fields(fmt.Sprintf(args, rounds(2, 20)))...)
				var entered, left []*counter
				for _, f := range shorts {
					n, m := w.counter(), w.counter()
					code := w.counts(n)
					if bells {
						code = w.rings(w.counter(), n)
					}
					w.probe(f, Handlers{Enter: code})
					if f != "zero" { // one without exits that have breakpoints
						w.probe(f, Handlers{Leave: w.counts(m)})
						left = append(left, m)
					}
					entered = append(entered, n)
				}
				w.run()
				var made, bad int64
				if _, err := fmt.Sscanf(tg.output(), "rounds=%d bad=%d", &made, &bad); err != nil || bad != 0 {
					t.Fatalf("output %q", tg.output())
				}
				for _, n := range append(entered, left...) {
					want(t, "calls", n.get(), made)
				}
				for _, q := range w.Query() {
					for how := range q.Strategy {
						if !strings.HasPrefix(how, "inline") {
							t.Errorf("%s: %v", q.Name, q.Strategy)
						}
					}
				}
			})
		}
	}
}

// TestInlineEmpty follows the calls of a function whose only instruction is its return: each has its own storage, and
// its end comes after its beginning. With rings, what happens at the beginning stops the thread.
func TestInlineEmpty(t *testing.T) {
	for _, rings := range []bool{false, true} {
		t.Run(fmt.Sprint(rings), func(t *testing.T) {
			w := inlineWorld(t, FollowThreads)
			tg := w.launch(program(t, "short.c"), "calls", "1000", "timer")
			before, behind := w.counter(), w.counter()
			if rings {
				w.probe("empty", Handlers{Enter: w.rings(w.counter(), before)})
			}
			c, err := w.follow("empty")
			if err != nil {
				t.Fatal(err)
			}
			w.probe("empty", Handlers{Enter: w.counts(behind)})
			w.run()
			var made, bad int64
			if _, err := fmt.Sscanf(tg.output(), "rounds=%d bad=%d", &made, &bad); err != nil || bad != 0 {
				t.Fatalf("output %q", tg.output())
			}
			want(t, "calls, returns, calls with the storage of another", fmt.Sprint(c.entered.get(), c.left.get(), c.mixed.get()), fmt.Sprint(made, made, 0))
			want(t, "hits behind", behind.get(), made)
			q, s := w.Query()[0], w.Stats()
			if q.Strategy["inline, returns by return sites"] != 1 || !rings && int64(s.Hits) > made/2 {
				t.Errorf("%+v, %d stops of %d calls", q, s.Hits, made)
			}
		})
	}
}

// TestInlineShortInHandlers ends sessions while the handlers of signals that have interrupted native code do not return:
// the padding is as before then, and the threads find the native code when they return.
func TestInlineShortInHandlers(t *testing.T) {
	for range scaled(3, 50) {
		w := inlineWorld(t, FollowThreads)
		p := start(t, program(t, "short.c"), "spin", "4")
		before := text(t, p.pid())
		if err := w.Attach(p.pid()); err != nil {
			t.Fatal(err)
		}
		for _, f := range shorts {
			w.probe(f, Handlers{Enter: w.counts(w.counter())})
		}
		w.Start()
		eventually(t, "hits without a stop", func() bool { return w.Stats().Inline >= len(shorts) })
		for _, tid := range procfs.Threads(p.pid()) {
			if tid != p.pid() {
				unix.Tgkill(p.pid(), tid, unix.SIGUSR1)
			}
		}
		if err := w.Close(false); err != nil {
			t.Error(err)
		}
		untouched(t, p.pid(), before)
		unix.Kill(p.pid(), unix.SIGUSR2)
		want(t, "target", p.end(), "spin bad=0")
	}
}

// TestInlineShortToggled places and removes jumps through springboards while threads run through them. The padding is
// as before when the session has ended.
func TestInlineShortToggled(t *testing.T) {
	w := inlineWorld(t, FollowThreads)
	p := start(t, program(t, "short.c"), "spin", "4")
	before := text(t, p.pid())
	if err := w.Attach(p.pid()); err != nil {
		t.Fatal(err)
	}
	var ids []uint32
	n := w.counter()
	for _, f := range shorts {
		ids = append(ids, w.probe(f, Handlers{Enter: w.counts(n)}), w.probe(f, Handlers{Enter: w.counts(w.counter())}))
	}
	w.Start()
	eventually(t, "hits without a stop", func() bool { return w.Stats().Inline >= len(shorts) })
	w.toggle(ids, n, scaled(100, 2000))
	if err := w.Close(false); err != nil {
		t.Fatal(err)
	}
	untouched(t, p.pid(), before)
	want(t, "output", p.end(), "spin bad=0")
}

// TestInlineShortDetach attaches and detaches while threads may stand at a springboard.
func TestInlineShortDetach(t *testing.T) {
	t.Parallel()
	testenv.Require(t, testenv.AMD64, testenv.Ptrace)
	p := start(t, program(t, "short.c"), "spin", "4")
	before := text(t, p.pid())
	for i := range scaled(10, 200) {
		w := inlineWorld(t, FollowThreads)
		if err := w.Attach(p.pid()); err != nil {
			t.Fatal(err)
		}
		n := w.counter()
		for _, f := range shorts {
			w.probe(f+"+*", Handlers{Enter: w.counts(n)})
		}
		w.Start()
		eventually(t, "hits without a stop", func() bool { return n.get() > 1000 && w.Stats().Inline > len(shorts) })
		if err := w.Close(i%2 == 0); err != nil {
			t.Fatalf("round %d: %v", i, err)
		}
		untouched(t, p.pid(), before)
	}
	want(t, "output", p.end(), "spin bad=0")
}
