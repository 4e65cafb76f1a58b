package runtime

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"gotap/runtime/arena"
	"gotap/runtime/object"
	"gotap/runtime/opcode"
	"gotap/runtime/outcome"
	"gotap/runtime/record"
	"gotap/runtime/value"
)

// deferredBench has a program that logs one integer, and an object to log into.
type deferredBench struct {
	*bench
	id  uint32
	off uint64
	h   *arena.Handle
}

func newDeferred(t *testing.T, o object.Object) *deferredBench {
	b := newBench(t)
	id, off := b.declare(t, o)
	return &deferredBench{b, eventProgram(b.a, value.KindInt), off, b.a.Handle(id)}
}

func trail(size int) object.Object {
	return object.Object{Name: "t", Kind: object.KindTrail, Max: 8, Size: size}
}

// item is the instructions that log n: to the host, or deferred.
func (b *deferredBench) item(n int64, deferred bool) []Inst {
	end := op(opcode.EndItem)
	if deferred {
		end = opV(opcode.EndDeferred, b.off)
	}
	return seq(opA(opcode.Item, 1), push(n), op(opcode.LogInt), end)
}

// commit1 runs one program of a thread and commits what it logged at a time.
func (b *deferredBench) commit1(tid uint32, time uint64, parts ...[]Inst) outcome.Outcome {
	out := b.run(&Code{ID: b.id, Insts: append(slices.Concat(parts...), op(opcode.Exit))})
	if out.Trap == outcome.NoTrap {
		b.a.Commit(record.Header{Program: b.id, Tid: tid, Time: time}, &b.hit)
	}
	return out
}

// told lists what the host gets: thread, time, number of each item.
func (b *deferredBench) told() (list []string) {
	for {
		rec, ok := b.a.Next()
		if !ok {
			return list
		}
		list = append(list, listed(rec)...)
	}
}

func listed(rec record.Record) (list []string) {
	for _, it := range rec.Items {
		list = append(list, fmt.Sprintf("%d@%d:%d", rec.Tid, rec.Time, it.Values[0].Int))
	}
	return list
}

func wantTold(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("told %q, want %q", got, want)
	}
}

// TestTrail: what waits is told in order, with the times of its own hits, and only of the thread that keeps it.
func TestTrail(t *testing.T) {
	b := newDeferred(t, trail(1024))
	keep, forget := seq(opV(opcode.Keep, b.off)), seq(opV(opcode.Forget, b.off))
	b.commit1(1, 10, b.item(1, true), b.item(2, true))
	b.commit1(2, 11, b.item(9, true))
	b.commit1(1, 12, b.item(3, true), b.item(4, false))
	wantTold(t, b.told(), "1@12:4")
	b.commit1(1, 13, b.item(5, false), b.item(6, true), keep, b.item(7, false))
	wantTold(t, b.told(), "1@13:5", "1@10:1", "1@10:2", "1@12:3", "1@13:6", "1@13:7")
	b.commit1(1, 14, keep)
	b.commit1(3, 15, keep, forget)
	wantTold(t, b.told())
	b.commit1(2, 16, forget, b.item(8, true), keep)
	wantTold(t, b.told(), "2@16:8")
	if lost := b.a.Lost(); len(lost) != 0 {
		t.Error(lost)
	}
}

// TestTrailIsNoEvent: what waits is no event of the hit, and is marked as one when it is told.
func TestTrailIsNoEvent(t *testing.T) {
	b := newDeferred(t, trail(1024))
	b.commit1(1, 10, b.item(1, true))
	if b.hit.HasEvent() {
		t.Error("an item that waits counts as an event")
	}
	b.commit1(1, 11, seq(opV(opcode.Keep, b.off)))
	if rec, ok := b.a.Next(); !ok || rec.Flags != record.FlagEvent || rec.Kind != outcome.ExitPlain || rec.Probe != 0 {
		t.Errorf("%+v", rec)
	}
}

// TestTrailOfTrappedHits: a hit that does not end well changes no trail.
func TestTrailOfTrappedHits(t *testing.T) {
	b := newDeferred(t, trail(1024))
	b.commit1(1, 10, b.item(1, true))
	if out := b.commit1(1, 11, b.item(2, true), seq(opV(opcode.Forget, b.off), push(1), push(0), op(opcode.Quo))); out.Trap != outcome.TrapDivide {
		t.Fatal(out)
	}
	b.run(&Code{ID: b.id, Insts: slices.Concat(seq(opV(opcode.Forget, b.off)), seq(op(opcode.Abort)))})
	b.a.Commit(record.Header{Tid: 1}, &b.hit)
	b.commit1(1, 12, seq(opV(opcode.Keep, b.off)))
	wantTold(t, b.told(), "1@10:1")
}

// TestTrailIsBounded: what does not fit is counted, but only when it is missed.
func TestTrailIsBounded(t *testing.T) {
	b := newDeferred(t, trail(160)) // two records of 72 bytes
	full := func() {
		for n := range int64(5) {
			b.commit1(1, uint64(n), b.item(n, true))
		}
	}
	full()
	b.commit1(1, 9, seq(opV(opcode.Forget, b.off)))
	if lost := b.a.Lost(); len(lost) != 0 {
		t.Errorf("a trail that was forgotten has lost %v", lost)
	}
	full()
	b.commit1(1, 9, seq(opV(opcode.Keep, b.off)))
	wantTold(t, b.told(), "1@0:0", "1@1:1")
	if lost := b.a.Lost(); lost["trail t full"] != 3 {
		t.Errorf("lost %v, want 3", lost)
	}
	for tid := range uint32(20) {
		b.commit1(100+tid, 1, b.item(1, true))
	}
	if lost := b.a.Lost(); lost["trail t full"] != 3+13 {
		t.Errorf("more threads than the trail has: lost %v", lost)
	}
}

// TestTrailMeetsFullRing: records that the ring has no room for are counted, and the trail is empty nevertheless.
func TestTrailMeetsFullRing(t *testing.T) {
	b := newDeferred(t, trail(128<<10))
	for n := range int64(3000) {
		b.commit1(1, 1, b.item(n, true))
	}
	b.commit1(1, 2, seq(opV(opcode.Keep, b.off)))
	told, lost := len(b.told()), b.a.Lost()
	if kept := 128 << 10 / 72; told+int(lost["ring full"]) != kept || lost["ring full"] == 0 || lost["trail t full"] != uint64(3000-kept) {
		t.Errorf("%d told, lost %v", told, lost)
	}
	b.commit1(1, 3, b.item(5, true), seq(opV(opcode.Keep, b.off)))
	wantTold(t, b.told(), "1@3:5")
}

// TestTrailOfEndedThread: a thread's number may come again, what waited for the old one is gone.
func TestTrailOfEndedThread(t *testing.T) {
	b := newDeferred(t, trail(1024))
	b.commit1(1, 10, b.item(1, true))
	b.commit1(2, 10, b.item(2, true))
	b.a.DropThread(1)
	b.commit1(1, 11, seq(opV(opcode.Keep, b.off)))
	wantTold(t, b.told())
	b.h.Clear()
	b.commit1(2, 12, seq(opV(opcode.Keep, b.off)))
	wantTold(t, b.told())
}

// TestPositionsOverDeferredItems: positions of the log do not stumble over the bits that say where an item goes.
func TestPositionsOverDeferredItems(t *testing.T) {
	b := newDeferred(t, trail(1024))
	got, out := b.eval(Code{ID: b.id, Insts: slices.Concat(b.item(1, true), seq(op(opcode.PushLP)), seq(opV(opcode.Keep, b.off)),
		seq(op(opcode.PushPLP), push(24), op(opcode.PopLP), op(opcode.PushLP)))}, 3)
	if out.Trap != outcome.NoTrap || !slices.Equal(got, words(24, 24, 24)) {
		t.Errorf("%v %+v", got, out)
	}
}

func recorder(events, size int) object.Object {
	return object.Object{Name: "r", Kind: object.KindRecorder, Max: events, Size: size}
}

func (b *deferredBench) dumped() (list []string, overwritten uint64) {
	records, n := b.h.Dump()
	for _, rec := range records {
		list = append(list, listed(rec)...)
	}
	return list, n
}

// TestRecorder: the last records of all threads, each dumped once.
func TestRecorder(t *testing.T) {
	b := newDeferred(t, recorder(3, 128))
	if list, n := b.dumped(); len(list) != 0 || n != 0 {
		t.Error("an unused recorder holds", list, n)
	}
	for n := range int64(5) {
		b.commit1(uint32(n), uint64(n), b.item(n, true))
	}
	wantTold(t, b.told())
	list, n := b.dumped()
	if wantTold(t, list, "2@2:2", "3@3:3", "4@4:4"); n != 2 {
		t.Errorf("%d overwritten, want 2", n)
	}
	b.commit1(1, 6, b.item(6, true))
	list, n = b.dumped()
	if wantTold(t, list, "1@6:6"); n != 0 {
		t.Errorf("%d overwritten, want 0", n)
	}
	b.commit1(1, 7, b.item(7, true))
	b.h.Clear()
	if list, n = b.dumped(); len(list) != 0 || n != 0 {
		t.Error("a cleared recorder holds", list, n)
	}
}

// TestRecorderCountsWhatDoesNotFit: a record larger than a slot is lost, and says so.
func TestRecorderCountsWhatDoesNotFit(t *testing.T) {
	b := newDeferred(t, recorder(3, 64))
	b.commit1(1, 1, b.item(1, true))
	if list, n := b.dumped(); len(list) != 0 || n != 0 {
		t.Error(list, n)
	}
	if lost := b.a.Lost(); lost["recorder r: records larger than its bytes"] != 1 {
		t.Error(lost)
	}
}

// TestRecorderUnderWriters: many threads record and one dumps: each record comes whole and at most once, those of a
// thread in order, and dumped and overwritten ones together are all there were.
func TestRecorderUnderWriters(t *testing.T) {
	b := newDeferred(t, recorder(16, 128))
	const writers, each = 4, 20000
	var wg sync.WaitGroup
	for w := range uint32(writers) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			m, ctx, hit := NewMachine(b.a), Context{Thread: newThread(), Word: 8, Tid: w}, record.Log{}
			for n := range int64(each) {
				hit.Reset()
				m.Run(&Code{ID: b.id, Insts: append(b.item(n, true), op(opcode.Exit))}, &ctx, &hit)
				b.a.Commit(record.Header{Program: b.id, Tid: w, Time: uint64(n)}, &hit)
			}
		}()
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	seen, total, last := 0, uint64(0), map[uint32]int64{}
	dump := func() {
		records, n := b.h.Dump()
		total += n
		for _, rec := range records {
			v := rec.Items[0].Values[0].Int
			if before, ok := last[rec.Tid]; ok && v <= before || uint64(v) != rec.Time {
				t.Fatalf("thread %d: %d at %d after %d", rec.Tid, v, rec.Time, before)
			}
			last[rec.Tid] = v
			seen++
		}
	}
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		dump()
	}
	if uint64(seen)+total != writers*each {
		t.Errorf("%d dumped and %d overwritten are not %d", seen, total, writers*each)
	}
}

// TestAsideDeclarations: sizes that make no sense are refused.
func TestAsideDeclarations(t *testing.T) {
	a := newArena(t)
	for _, o := range []object.Object{trail(0), trail(60), trail(object.MaxTrail + 8), recorder(0, 128), recorder(4, 8), recorder(4, record.MaxLog*2), recorder(object.MaxEvents, 4096)} {
		if _, err := a.Declare(o); err == nil {
			t.Errorf("%+v was declared", o)
		}
	}
}

// TestAsideDoesNotAllocate: neither waiting, nor keeping, nor recording.
func TestAsideDoesNotAllocate(t *testing.T) {
	for _, o := range []object.Object{trail(4096), recorder(8, 128)} {
		b := newDeferred(t, o)
		parts := [][]Inst{b.item(1, true), b.item(2, false)}
		if o.Kind == object.KindTrail {
			parts = append(parts, seq(opV(opcode.Keep, b.off)))
		}
		code := &Code{ID: b.id, Insts: append(slices.Concat(parts...), op(opcode.Exit))}
		hit := func() {
			b.run(code)
			b.a.Commit(record.Header{Program: b.id, Tid: 1}, &b.hit)
		}
		hit()
		if n := testing.AllocsPerRun(100, hit); n != 0 {
			t.Errorf("%s: %v allocations a hit", o.Name, n)
		}
	}
}
