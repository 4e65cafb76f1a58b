package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotap/engine/testenv"
	"gotap/runtime"
	"gotap/runtime/arena"
	"gotap/runtime/object"
	"gotap/runtime/opcode"
	"gotap/runtime/value"
)

// Threads that leave native code for good while it counts in their shares: left.c has the ways.

// leftCounts is what left.c prints.
type leftCounts struct{ left, calls, sum, exact, exactSum int64 }

func parseLeft(t *testing.T, line string) (c leftCounts) {
	t.Helper()
	if _, err := fmt.Sscan(line, &c.left, &c.calls, &c.sum, &c.exact, &c.exactSum); err != nil {
		t.Fatalf("output %q", line)
	}
	return c
}

// loose counts the hits of work(), and adds up its arguments, in shares.
type loose struct{ count, sum, keyed *arena.Handle }

// loose adds a probe on work() that counts.
func (w *world) loose() loose {
	count, sum, keyed, code := countsInShares(w.arena, w.code)
	w.probe("left*:work", Handlers{Enter: code})
	return loose{w.arena.Handle(count), w.arena.Handle(sum), w.arena.Handle(keyed)}
}

// countsInShares declares a count, a sum and a keyed count, and makes a program that adds to them at each hit.
func countsInShares(a *arena.Arena, make func(...runtime.Inst) *runtime.Code) (count, sum, keyed int, code *runtime.Code) {
	declare := func(k object.Kind, keys ...value.Kind) (int, runtime.Inst) {
		id, err := a.Declare(object.Object{Kind: k, Keys: len(keys)})
		if err == nil {
			err = a.Refine(id, keys, value.KindInt)
		}
		if err != nil {
			panic(err)
		}
		_, off := a.Lookup(id)
		return id, runtime.Inst{Op: opcode.Agg, V: off}
	}
	count, addCount := declare(object.KindCount)
	sum, addSum := declare(object.KindSum)
	keyed, addKeyed := declare(object.KindCount, value.KindInt)
	arg := runtime.Inst{Op: opcode.Arg}
	code = make(arg, addCount, arg, addSum, arg, runtime.Inst{Op: opcode.PushD, V: 63}, runtime.Inst{Op: opcode.And},
		runtime.Inst{Op: opcode.KeyInt}, arg, addKeyed)
	return count, sum, keyed, code
}

// check compares with what the target has counted after the calls returned. A call that was left may have been counted.
func (l loose) check(t *testing.T, c leftCounts) {
	t.Helper()
	var count, sum, keyed int64
	for _, e := range l.count.Take().Entries {
		count += e.Data.Count
	}
	for _, e := range l.sum.Take().Entries {
		sum += e.Data.Sum
	}
	for _, e := range l.keyed.Take().Entries {
		keyed += e.Data.Count
	}
	for what, n := range map[string]int64{"hits": count, "hits by key": keyed} {
		if n < c.calls || n > c.calls+c.left {
			t.Errorf("%s: %d of %d calls, %d of which were left", what, n, c.calls, c.left)
		}
	}
	if sum < c.sum || sum > c.sum+1023*c.left {
		t.Errorf("sum %d, not %d and at most %d calls more", sum, c.sum, c.left)
	}
}

// TestInlineSharesLeft: siglongjmp out of code that counts, and exec while threads are there, cost no other hit, and
// count none twice. Afterwards everything is exact.
func TestInlineSharesLeft(t *testing.T) {
	for _, mode := range []string{"escape", "exec"} {
		t.Run(mode, func(t *testing.T) {
			w := inlineWorld(t, FollowChildren)
			n := map[string]int{"escape": rounds(40, 2000), "exec": rounds(5, 300)}[mode]
			tg := w.launch(program(t, "left.c"), mode, fmt.Sprint(n), filepath.Join(t.TempDir(), "counts"))
			exact := w.tally("left*:exact")
			work := w.loose()
			exact.begin()
			w.run()
			c := parseLeft(t, tg.output())
			want(t, "exact calls", exact.end(), fmt.Sprint(c.exact, c.exactSum))
			work.check(t, c)
			if s := w.Stats(); s.Inline == 0 {
				t.Errorf("%+v", s)
			}
		})
	}
}

// TestInlineSharesFoundAgain: a session that finds the jumps, the stubs and the shares of one that was killed counts
// every hit of its own, and none of the other's. Threads run through the stubs of the first meanwhile.
func TestInlineSharesFoundAgain(t *testing.T) {
	for i := range rounds(3, 200) {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			testenv.Require(t, testenv.AMD64, testenv.Ptrace)
			file := filepath.Join(t.TempDir(), "go")
			p := start(t, program(t, "left.c"), "again", "1", file)
			p.out.ReadString('\n')
			before := text(t, p.pid())
			s := startCrashed(t, crashPlan{Pid: p.pid(), Specs: []string{"left*:work", "left*:exact"}, Engine: Inline, Threads: true, Counts: true}, nil, nil)
			eventually(t, "native code", func() bool {
				maps, _ := os.ReadFile(fmt.Sprintf("/proc/%d/maps", p.pid()))
				return strings.Contains(string(maps), "gotap-arena") && text(t, p.pid()) != before
			})
			killSoon(s, time.Duration(i%5)*time.Millisecond)

			w := inlineWorld(t, FollowThreads)
			if err := w.Attach(p.pid()); err != nil {
				t.Fatal(err)
			}
			c := w.tally("left*:exact")
			work := w.counter()
			w.probe("left*:work", Handlers{Enter: w.counts(work)})
			c.begin()
			if err := w.Start(); err != nil {
				t.Fatal(err)
			}
			eventually(t, "jumps", func() bool { return w.Stats().Inline > 0 && work.get() > 1000 })
			touch(t, file)
			line, _ := p.out.ReadString('\n')
			counts := parseLeft(t, line)
			if err := w.Close(false); err != nil {
				t.Fatal(err)
			}
			want(t, "exact calls", c.end(), fmt.Sprint(counts.exact, counts.exactSum))
			untouched(t, p.pid(), before)
			want(t, "target", p.end(), "again")
		})
	}
}
