package runtime

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"gotap/runtime/opcode"
)

// newSeries declares a series of seconds whose wall clock is one second ahead.
func newSeries(t testing.TB, a *Arena, of ObjectKind, intervals, keys, most int) *Handle {
	t.Helper()
	id, err := a.Declare(Object{Name: "s", Kind: KindSeries, Of: of, Step: 1e9, Size: intervals, Keys: keys + 1, Max: most, Full: FullEvict, Init: 1e9})
	if err != nil {
		t.Fatal(err)
	}
	return a.Handle(id)
}

func addTo(t testing.TB, h *Handle, second, v int64, key ...Value) {
	t.Helper()
	if err := h.Add(v, append([]Value{Int(second)}, key...)...); err != nil {
		t.Fatal(err)
	}
}

// TestSeriesText has the form of bpftrace's tseries: the scale above and below, a dot where zero is (4 of 9 on a scale of 52
// columns), a star for the value, "-" where there is none.
func TestSeriesText(t *testing.T) {
	local := time.Local
	time.Local = time.UTC
	defer func() { time.Local = local }()
	h := newSeries(t, newArena(t), KindMin, 6, 0, 0)
	for second, v := range []int64{-5, -4, 0, 3, 5} {
		addTo(t, h, int64(second), v)
	}
	addTo(t, h, 6, 5) // the first is no longer seen, and nothing was added in the fifth
	want := `@s:
         -4                                                  5
hh:mm:ss |___________________________________________________|
00:00:01 *                      .                            | -4
00:00:02 |                      *                            | 0
00:00:03 |                      .                *           | 3
00:00:04 |                      .                            * 5
00:00:05 |                      .                            | -
00:00:06 |                      .                            * 5
         v___________________________________________________v
         -4                                                  5

`
	var b strings.Builder
	h.Entries().Print(&b, PrintOptions{})
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

func TestSeriesJSON(t *testing.T) {
	a := newArena(t)
	for _, c := range []struct {
		of   ObjectKind
		keys int
		want string
	}{
		{KindSum, 0, `{"type":"tseries","name":"s","data":[{"interval_start":"1970-01-01T00:00:07Z","value":5},{"interval_start":"1970-01-01T00:00:08Z","value":0},{"interval_start":"1970-01-01T00:00:09Z","value":4}]}`},
		{KindAvg, 0, `{"type":"tseries","name":"s","data":[{"interval_start":"1970-01-01T00:00:07Z","value":2},{"interval_start":"1970-01-01T00:00:09Z","value":4}]}`},
		{KindMax, 1, `{"type":"tseries","name":"s","data":[{"key":["k"],"value":[{"interval_start":"1970-01-01T00:00:07Z","value":3},{"interval_start":"1970-01-01T00:00:09Z","value":4}]}]}`},
	} {
		h := newSeries(t, a, c.of, 60, c.keys, 0)
		key := []Value{Text("k")}[:c.keys]
		empty, _ := json.Marshal(h.Entries().JSON())
		if want := `{"type":"tseries","name":"s","data":[]}`; string(empty) != want {
			t.Errorf("empty: %s, want %s", empty, want)
		}
		addTo(t, h, 7, 2, key...)
		addTo(t, h, 7, 3, key...)
		addTo(t, h, 9, 4, key...)
		got, err := json.Marshal(h.Entries().JSON())
		if err != nil || string(got) != c.want {
			t.Errorf("%v\n%s, want\n%s %v", c.of, got, c.want, err)
		}
	}
}

// TestSeriesForgets adds far more intervals than are kept: what nobody would see makes room without being told of, and what
// somebody would is told.
func TestSeriesForgets(t *testing.T) {
	a := newArena(t)
	h := newSeries(t, a, KindSum, 5, 0, 0)
	for second := range int64(1000) {
		addTo(t, h, second, second)
	}
	points := h.Entries().Series().Entries[0].Data.Points
	if len(points) != 5 || points[0].Value != 995 || points[4].Value != 999 || points[4].Start != 998e9 {
		t.Errorf("points %v", points)
	}
	keyed := newSeries(t, a, KindSum, 5, 1, 3)
	for second := range int64(100) {
		for k := range int64(3) {
			addTo(t, keyed, second, k, Int(k))
		}
	}
	if lost := a.Lost(); len(lost) != 0 {
		t.Errorf("lost %v", lost)
	}
	for _, e := range keyed.Entries().Series().Entries {
		if len(e.Data.Points) != 5 || e.Data.Sum != 5*e.Key[0].Int {
			t.Errorf("%v has %v", e.Key, e.Data)
		}
	}
	for k := range int64(100) {
		addTo(t, keyed, 100, 1, Int(k))
	}
	if lost := a.Lost(); lost["tseries s evicted"] == 0 {
		t.Errorf("keys that were seen went, and lost is %v", lost)
	}
}

// TestSeriesOfProgram runs the operation of a program: the machine puts the interval of the hit in front of the key.
func TestSeriesOfProgram(t *testing.T) {
	b := newBench(t)
	id, off := b.declare(t, Object{Kind: KindSeries, Of: KindSum, Step: 1e9, Size: 5, Keys: -1, Full: FullEvict})
	if err := b.a.RefineUse(id, []ValueKind{ValueInt}, ValueAny); err != nil {
		t.Fatal(err)
	}
	code := Code{Insts: []Inst{push(42), op(opcode.KeyInt), push(7), opV(opcode.Agg, off), op(opcode.Exit)}}
	for _, at := range []uint64{3e9, 3_999_999_999, 5e9} {
		b.thread.fields[FieldTime] = at
		if out := b.run(&code); out.Trap != NoTrap {
			t.Fatalf("%v", out)
		}
	}
	e := b.a.Handle(id).Entries().Series().Entries
	if len(e) != 1 || e[0].Key[0].Int != 42 || len(e[0].Data.Points) != 3 || e[0].Data.Points[0].Value != 14 || e[0].Data.Points[2].Value != 7 {
		t.Errorf("%+v", e)
	}
}

// TestSeriesUnderConcurrency adds from several goroutines while the host takes: nothing gets lost or doubled.
func TestSeriesUnderConcurrency(t *testing.T) {
	const threads, each = 8, 5000
	a := newArena(t)
	h := newSeries(t, a, KindSum, 100, 1, 4)
	var wg sync.WaitGroup
	for n := range threads {
		wg.Go(func() {
			for i := range int64(each) {
				h.Add(1, Int(i/100), Int(int64(n%4)))
			}
		})
	}
	total := int64(0)
	count := func(s Snapshot) {
		seen := map[string]bool{}
		for _, e := range s.Entries {
			if key := fmt.Sprint(e.Key); seen[key] {
				t.Errorf("%s twice in one snapshot", key)
			} else {
				seen[key] = true
			}
		}
		for _, e := range s.Series().Entries {
			total += e.Data.Sum
		}
	}
	for range 200 {
		count(h.Take())
	}
	wg.Wait()
	count(h.Take())
	if total != threads*each {
		t.Errorf("%d of %d, lost %v", total, threads*each, a.Lost())
	}
}

// TestSeriesMoves keeps a series through a reload and a recording.
func TestSeriesMoves(t *testing.T) {
	a := newArena(t)
	h := newSeries(t, a, KindAvg, 5, 0, 0)
	addTo(t, h, 1, 10)
	addTo(t, h, 2, 20)
	for name, move := range map[string]func(to *Handle) error{
		"copied":   func(to *Handle) error { return to.CopyFrom(h) },
		"restored": func(to *Handle) error { return to.Restore(h.Entries()) },
	} {
		to := newSeries(t, a, KindAvg, 5, 0, 0)
		if err := move(to); err != nil {
			t.Fatal(name, err)
		}
		addTo(t, to, 2, 40)
		points := to.Entries().Series().Entries[0].Data.Points
		if len(points) != 2 || points[0].Value != 10 || points[1].Value != 30 {
			t.Errorf("%s: %v", name, points)
		}
	}
	if err := newSeries(t, a, KindMin, 5, 0, 0).CopyFrom(h); err == nil {
		t.Error("a series of minima took averages")
	}
}
