package engine

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"gotap/runtime"
	"gotap/runtime/arena"
	"gotap/runtime/object"
	"gotap/runtime/opcode"
	"gotap/runtime/value"
)

// tally counts the hits of a function and adds up its first arguments, in objects that native code counts in shares of
// threads. While the target runs, somebody takes and reads them.
type tally struct {
	w                        *world
	count, sum, hist         *arena.Handle
	keyed                    *arena.Handle // the same sum, by the lower bits of the argument
	counted, summed, grouped int64         // taken so far
	keyedHits, keyedSum      int64
	probe                    uint32
	stop                     chan struct{}
	wg                       sync.WaitGroup
}

func (w *world) tally(spec string) *tally {
	c := &tally{w: w, stop: make(chan struct{})}
	declare := func(k object.Kind, keys ...value.Kind) (*arena.Handle, uint64) {
		id, err := w.arena.Declare(object.Object{Kind: k, Keys: len(keys)})
		if err == nil {
			err = w.arena.Refine(id, keys, value.KindInt)
		}
		if err != nil {
			w.t.Fatal(err)
		}
		_, off := w.arena.Lookup(id)
		return w.arena.Handle(id), off
	}
	var count, sum, hist, keyed uint64
	c.count, count = declare(object.KindCount)
	c.sum, sum = declare(object.KindSum)
	c.hist, hist = declare(object.KindHist)
	c.keyed, keyed = declare(object.KindSum, value.KindInt)
	arg := runtime.Inst{Op: opcode.Arg}
	agg := func(off uint64) runtime.Inst { return runtime.Inst{Op: opcode.Agg, V: off} }
	c.probe = w.probe(spec, Handlers{Enter: w.code(arg, agg(count), arg, agg(sum), arg, agg(hist),
		arg, runtime.Inst{Op: opcode.PushD, V: 63}, runtime.Inst{Op: opcode.And}, runtime.Inst{Op: opcode.KeyInt}, arg, agg(keyed))})
	return c
}

// take takes what has been counted.
func (c *tally) take() {
	for _, e := range c.count.Take().Entries {
		c.counted += e.Data.Count
	}
	for _, e := range c.sum.Take().Entries {
		c.summed += e.Data.Sum
	}
	for _, e := range c.hist.Take().Entries {
		c.grouped += e.Data.Count
	}
	for _, e := range c.keyed.Take().Entries {
		c.keyedHits, c.keyedSum = c.keyedHits+e.Data.Count, c.keyedSum+e.Data.Sum
	}
}

// begin begins to take and to read.
func (c *tally) begin() {
	c.wg.Go(func() {
		for hits := uint64(0); ; {
			select {
			case <-c.stop:
				return
			case <-time.After(time.Millisecond):
			}
			c.take()
			c.sum.Get()
			now := c.w.stateOf(c.probe).Hits
			if now < hits {
				c.w.t.Errorf("%d hits after %d", now, hits)
			}
			hits = now
		}
	})
}

// end ends that, and returns what has been counted in all: the hits by the object and the sum, as the target prints
// them.
func (c *tally) end() string {
	close(c.stop)
	c.wg.Wait()
	c.take()
	want(c.w.t, "values in buckets", c.grouped, c.counted)
	want(c.w.t, "hits by key", c.keyedHits, c.counted)
	want(c.w.t, "sum by key", c.keyedSum, c.summed)
	want(c.w.t, "hits of the probe", int64(c.w.stateOf(c.probe).Hits), c.counted)
	return fmt.Sprintf("%d %d", c.counted, c.summed)
}

// TestInlineShares: every hit is counted once, whichever threads and processes there are: threads that come and go,
// signal handlers, children of fork and vfork, and threads that have the data of others, while somebody takes what has
// been counted.
func TestInlineShares(t *testing.T) {
	for _, line := range []string{"born 6", "raw 4"} {
		t.Run(line, func(t *testing.T) {
			w := inlineWorld(t, FollowChildren)
			tg := w.launch(program(t, "shares.c"), strings.Fields(line)...)
			c := w.tally("shares*:work")
			c.begin()
			w.run()
			want(t, "counted", c.end(), strings.TrimSpace(tg.output()))
			if s := w.Stats(); s.Inline == 0 {
				t.Errorf("%+v", s)
			}
		})
	}
}

// TestInlineSharesAttached is TestInlineShares for threads that exist before the session, among them two with the same
// data.
func TestInlineSharesAttached(t *testing.T) {
	w := inlineWorld(t, FollowThreads)
	file := filepath.Join(t.TempDir(), "go")
	p := start(t, program(t, "shares.c"), "late", strconv.Itoa(scaled(10, 40)), file)
	p.out.ReadString('\n')
	if err := w.Attach(p.pid()); err != nil {
		t.Fatal(err)
	}
	c := w.tally("shares*:work")
	c.begin()
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	touch(t, file)
	line, _ := p.out.ReadString('\n')
	<-w.Done()
	want(t, "counted", c.end(), strings.TrimSpace(line))
}
