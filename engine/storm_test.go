package engine

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// scaled is a size of a storm: a small one, or the full one when there is time.
func scaled(small, full int) int {
	if longRun() {
		return full
	}
	return small
}

// emulated is a number of rounds: few in an emulated machine, where a stop takes a hundred times as long, if package
// armtest does not ask for all.
func emulated(few, many int) int {
	if os.Getenv(prebuiltDir) != "" && os.Getenv("GOTAP_FULL") == "" {
		return few
	}
	return many
}

// TestStormOfToggles enables and disables a thousand probes, entries and returns, one by one and all together, under 64
// threads that call the functions all the time. Every toggle is answered, the target computes what it should, and its
// code is as before.
func TestStormOfToggles(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, e Engine) {
		p := start(t, program(t, "storm.c"), strconv.Itoa(scaled(16, 64)))
		p.out.ReadString('\n')
		before := text(t, p.pid())
		w := newWorld(t, Config{Engine: e, Follow: FollowThreads})
		if err := w.Attach(p.pid()); err != nil {
			t.Fatal(err)
		}
		w.Start()
		n, l := w.counter(), w.counter()
		var ids []uint32
		for i := range scaled(100, 1000) {
			h := Handlers{Enter: w.counts(n)}
			if i%4 == 0 {
				h.Leave = w.counts(l)
			}
			ids = append(ids, w.probe(fmt.Sprintf("f_%03d", i), h, func(p *ProbeSpec) { p.Disabled = true }))
		}
		for range scaled(300, 20000) {
			toggle := w.Enable
			if rand.IntN(2) == 0 {
				toggle = w.Disable
			}
			if err := toggle(ids[rand.IntN(len(ids))]); err != nil {
				t.Fatal(err)
			}
		}
		for _, id := range ids {
			if err := w.Disable(id); err != nil {
				t.Fatal(err)
			}
		}
		seen := n.get()
		time.Sleep(5 * time.Millisecond)
		want(t, "hits of disabled probes", n.get(), seen)
		t.Logf("%d hits, %d returns", n.get(), l.get())
		if err := w.Close(false); err != nil {
			t.Error(err)
		}
		untouched(t, p.pid(), before)
		want(t, "target", p.end(), "storm bad=0")
	})
}

// TestStormOfProcesses has a target fork, exec and load libraries again and again, with probes on every instruction of
// what it does.
func TestStormOfProcesses(t *testing.T) {
	lib := program(t, "late.c", "-shared", "-fPIC")
	for _, args := range [][]string{{"fork", "6"}, {"vfork", "6"}, {"exec", "6"}, {"tree", "3"}, {"library", "10", lib}} {
		eachEngine(t, func(t *testing.T, e Engine) {
			for range scaled(2, 200) {
				w := newWorld(t, Config{Engine: e, Follow: FollowChildren})
				tg := w.launch(program(t, "target.c"), args...)
				n := w.counter()
				for _, f := range []string{"work+*", "run+*", "child+*", "tree+*", "libraries+*"} {
					w.probe("target*:"+f, Handlers{Enter: w.counts(n)}, func(p *ProbeSpec) { p.Optional = true }) // some are inlined
				}
				w.probe(lib+":late+*", Handlers{Enter: w.counts(n)})
				w.run()
				if !strings.HasSuffix(tg.output(), " bad=0\n") || n.get() == 0 {
					t.Fatalf("%v: %d hits, output %q", args, n.get(), tg.output())
				}
				w.Close(false)
			}
		})
	}
}

// TestCountsOfSixteenThreads has 16 threads call a function, with each way of running the displaced instruction: N
// calls are N hits and N returns. In place threads are held, and none gets past.
func TestCountsOfSixteenThreads(t *testing.T) {
	calls := scaled(200, 20000)
	for _, how := range []string{"auto", "emulate", "out of line", "in place"} {
		t.Run(how, func(t *testing.T) {
			e := engines[how]
			if strings.Contains(how, " ") {
				e = Step
			}
			each := calls
			if how == "in place" {
				each = min(calls/10, 100) // each hit holds the others
			}
			w := newWorld(t, Config{Engine: e, Follow: FollowThreads})
			w.do(func() error { w.patcher.InPlaceOnly(how == "in place"); return nil })
			tg := w.launch(program(t, "target.c"), "threads", strconv.Itoa(each), "16")
			n, l, every := w.counter(), w.counter(), w.counter()
			id := w.probe("work", Handlers{Enter: w.counts(n), Leave: w.counts(l)})
			w.probe("work+*", Handlers{Enter: w.counts(every)})
			w.run()
			want(t, "output", tg.output(), "threads bad=0\n")
			st := w.stateOf(id)
			want(t, "hits", n.get(), int64(16*each))
			want(t, "returns", l.get(), int64(16*each))
			want(t, "missed", st.Missed, 0)
			want(t, "hits of every instruction", every.get()%int64(16*each), 0)
		})
	}
}
