package runtime

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gotap/runtime/opcode"
)

// eventProgram registers a program that logs one item of these kinds.
func eventProgram(a *Arena, kinds ...ValueKind) uint32 {
	f := Format{Kind: ItemEvent}
	for _, k := range kinds {
		f.Fields = append(f.Fields, RecordField{Kind: k})
	}
	return a.Register(ProgramInfo{Name: "p", Formats: []Format{{Kind: ItemLog}, f}})
}

// TestRecord sends one item with every kind of field through log, ring and decoder.
func TestRecord(t *testing.T) {
	b := newBench(t)
	id := eventProgram(b.a, ValueInt, ValueFloat, ValueText, ValueText, ValueStack, ValueBytes, ValueBool)
	hdr := Header{Program: id, Probe: 7, Pid: 8, Tid: 9, Time: 1 << 40, Hold: 3, Comm: [16]byte{'c'}, Kind: ExitHold}
	out := b.run(&Code{ID: id, Texts: []string{"const"}, Insts: seq(
		opA(opcode.Item, 1), push(-1), op(opcode.LogInt), push(bitsOf(1.5)), op(opcode.LogFloat), opA(opcode.PushS, 0), op(opcode.LogText),
		push(0x1040), push(3), op(opcode.Str), op(opcode.LogText), push(2), op(opcode.Stack), op(opcode.LogText),
		push(0x1000), push(6), op(opcode.Bytes), op(opcode.LogText), push(1), op(opcode.LogInt), op(opcode.EndItem),
		opA(opcode.Item, 0), op(opcode.EndItem), opA(opcode.Exit, uint32(ExitHold)))})
	if out.Trap != NoTrap || !b.a.Commit(hdr, &b.hit) {
		t.Fatal(out)
	}
	rec, ok := b.a.Next()
	hdr.Size, hdr.Flags = rec.Size, RecordEvent|RecordHold
	if !ok || rec.Header != hdr || len(rec.Items) != 2 || rec.Items[0].Program != id {
		t.Fatalf("%+v", rec)
	}
	v := rec.Items[0].Values
	if v[0].Int != -1 || v[1].Float != 1.5 || v[2].Text != "const" || v[2].Cut || v[3].Text != "mno" || !v[3].Cut {
		t.Errorf("%+v", v)
	}
	if !slices.Equal(v[4].Stack, []uint64{0x10, 0x20}) || v[4].Int != 8 || v[5].Text != "hello\x00" || v[6].Int != 1 {
		t.Errorf("%+v", v)
	}
	if _, ok := b.a.Next(); ok {
		t.Error("there is a second record")
	}
}

// TestNothingLoggedWakesNobody: without items nothing is written and the sleeper sleeps on.
func TestNothingLoggedWakesNobody(t *testing.T) {
	b := newBench(t)
	woken := make(chan bool)
	done := make(chan struct{})
	go func() { woken <- b.a.Wait(done) }()
	for b.a.load(wordRingSleep) == 0 {
		time.Sleep(time.Millisecond)
	}
	b.run(&Code{Insts: seq(op(opcode.Exit))})
	if !b.a.Commit(Header{}, &b.hit) || b.a.load(wordRingHead) != 0 || b.a.load(wordRingSleep) != 1 {
		t.Error("an empty hit did something")
	}
	close(done)
	if <-woken {
		t.Error("an empty hit woke the host")
	}
	go func() { woken <- b.a.Wait(nil) }()
	b.run(&Code{ID: eventProgram(b.a), Insts: seq(op(opcode.Item), op(opcode.EndItem), op(opcode.Exit))})
	b.a.Commit(Header{}, &b.hit)
	if !<-woken {
		t.Error("not woken")
	}
}

// TestRingFull: the newest is dropped and counted, and what was committed is still whole.
func TestRingFull(t *testing.T) {
	b := newBench(t)
	id := eventProgram(b.a, ValueInt)
	commit := func(n int64) bool {
		b.run(&Code{ID: id, Insts: seq(opA(opcode.Item, 1), push(n), op(opcode.LogInt), op(opcode.EndItem), op(opcode.Exit))})
		return b.a.Commit(Header{}, &b.hit)
	}
	next, lost := int64(0), uint64(0)
	for round := range 5 { // several times round the ring
		sent := next
		for commit(sent) {
			sent++
		}
		lost++
		if b.a.Lost()["ring full"] != lost || sent-next < 500 {
			t.Fatalf("round %d: %d records fit, lost %v", round, sent-next, b.a.Lost())
		}
		for next < sent-10 || round == 4 && next < sent {
			rec, ok := b.a.Next()
			if !ok || rec.Items[0].Values[0].Int != next {
				t.Fatalf("round %d: record %d: %+v", round, next, rec)
			}
			next++
		}
		for next < sent {
			b.a.Next()
			next++
		}
	}
}

// TestManyWriters: records of several threads arrive whole, each thread's in order, and the
// lost ones are counted.
func TestManyWriters(t *testing.T) {
	a := newArena(t)
	id := eventProgram(a, ValueInt, ValueText)
	const threads, rounds = 4, 3000
	var received, last [threads]int64
	done := make(chan struct{})
	var host sync.WaitGroup
	host.Go(func() {
		for a.Wait(done) {
			for rec, ok := a.Next(); ok; rec, ok = a.Next() {
				v := rec.Items[0].Values
				if v[0].Int <= last[rec.Tid] || len(v[1].Text) != int(v[0].Int%50) {
					t.Errorf("thread %d: %d after %d, text of %d", rec.Tid, v[0].Int, last[rec.Tid], len(v[1].Text))
				}
				last[rec.Tid] = v[0].Int
				received[rec.Tid]++
			}
		}
	})
	hammer(threads, func(tid int) {
		b := &bench{a: a, m: NewMachine(a), thread: newThread()}
		b.ctx = Context{Thread: b.thread, Word: 8}
		for i := range int64(rounds) {
			b.run(&Code{ID: id, Insts: seq(opA(opcode.Item, 1), push(i+1), op(opcode.LogInt), push(0x1040), push((i+1)%50), op(opcode.Bytes), op(opcode.LogText),
				op(opcode.EndItem), op(opcode.Exit))})
			a.Commit(Header{Tid: uint32(tid)}, &b.hit)
		}
	})
	for a.load(wordRingTail) != a.load(wordRingHead) {
		time.Sleep(time.Millisecond)
	}
	close(done)
	host.Wait()
	total := int64(a.Lost()["ring full"])
	for _, n := range received {
		total += n
	}
	if total != threads*rounds {
		t.Errorf("%v received, %v lost", received, a.Lost())
	}
}

// TestLogLimits: an item that does not fit is taken back whole and counted, those before it
// stay, and its event is none.
func TestLogLimits(t *testing.T) {
	b := newBench(t)
	id := eventProgram(b.a, ValueText)
	item := seq(opA(opcode.Item, 1), push(0x1040), push(500), op(opcode.Bytes), op(opcode.LogText), op(opcode.EndItem))
	three := append(append(slices.Clone(item), item...), item...)
	exit := opA(opcode.Exit, uint32(ExitHold))
	out := b.run(&Code{ID: id, Insts: append(slices.Clone(three), exit)})
	if out.Kind != ExitPlain || b.hit.HasEvent() || b.a.Lost()["log full"] != 2 || b.hit.Len() != 8+8+504 {
		t.Errorf("%+v, %d bytes, lost %v", out, b.hit.Len(), b.a.Lost())
	}
	out = b.run(&Code{ID: id, LogMax: 4096, Insts: append(slices.Clone(three), exit)})
	if out.Kind != ExitHold || !b.hit.HasEvent() || b.hit.Len() != 3*520 {
		t.Errorf("%+v, %d bytes", out, b.hit.Len())
	}
}

// TestDefinitionLog does the log commands of DProbes.
func TestDefinitionLog(t *testing.T) {
	b := newBench(t)
	id := b.a.Register(ProgramInfo{Formats: []Format{
		{Kind: ItemRange, Fields: []RecordField{{Kind: ValueBytes}}},
		{Kind: ItemString, Fields: []RecordField{{Kind: ValueText}}},
		{Kind: ItemWords, Fields: []RecordField{{Kind: ValueInt}, {Kind: ValueInt}}}}})
	run := func(limit int, list ...Inst) []Item {
		out := b.run(&Code{ID: id, LogMax: limit, Insts: append(list, op(opcode.Exit))})
		if out.Trap != NoTrap {
			t.Fatal(out.Trap)
		}
		items, err := decodeItems(b.hit.buf[:b.hit.n], *b.a.programs.Load(), 0)
		if err != nil {
			t.Fatal(err)
		}
		return items
	}
	items := run(0, push(7), push(0x1000), opA(opcode.LogRange, 0), push(64), push(0x1000), opA(opcode.LogStr, 1),
		push(1), push(2), push(3), Inst{Op: opcode.LogWords, A: 2, V: 2})
	if len(items) != 3 || items[0].Values[0].Text != "hello\x00w" || items[1].Values[0].Text != "hello" ||
		items[2].Values[0].Int != 3 || items[2].Values[1].Int != 2 {
		t.Errorf("%+v", items)
	}
	items = run(100, push(1000), push(0x1040), opA(opcode.LogRange, 0))
	if v := items[0].Values[0]; len(v.Text) != 80 || !v.Cut {
		t.Errorf("a range beyond the log: %d bytes, %v", len(v.Text), v.Cut)
	}
	out := b.run(&Code{ID: id, Insts: seq(push(5), push(0x1000), opA(opcode.LogRange, 0), push(5), push(0), opA(opcode.LogStr, 1))})
	if out.Trap != TrapRead || out.Addr != 0 || b.hit.Len() != 24 {
		t.Errorf("%+v, %d bytes", out, b.hit.Len())
	}
	if items := run(8, push(5), push(0x1000), opA(opcode.LogRange, 0)); len(items) != 0 || b.a.Lost()["log full"] != 1 {
		t.Errorf("%v %v", items, b.a.Lost())
	}
}

// damaged is a log of several items, to be damaged.
func damaged(t testing.TB) (log []byte, programs []ProgramInfo) {
	b := newBench(t)
	id := eventProgram(b.a, ValueInt, ValueText, ValueStack)
	item := seq(opA(opcode.Item, 1), push(5), op(opcode.LogInt), push(0x1000), push(9), op(opcode.Str), op(opcode.LogText), push(3), op(opcode.Stack), op(opcode.LogText), op(opcode.EndItem))
	b.run(&Code{ID: id, Insts: append(append(slices.Clone(item), item...), op(opcode.Exit))})
	return slices.Clone(b.hit.buf[:b.hit.n]), *b.a.programs.Load()
}

// TestDamagedLog changes bytes and cuts the end: there is an error or another value, never a panic.
func TestDamagedLog(t *testing.T) {
	log, programs := damaged(t)
	if items, err := decodeItems(log, programs, 1); err != nil || len(items) != 2 {
		t.Fatal(items, err)
	}
	for n := range len(log) {
		items, err := decodeItems(log[:n], programs, 1)
		if n%(len(log)/2) != 0 && !errors.Is(err, errDamaged) {
			t.Errorf("cut at %d: %v %v", n, items, err)
		}
	}
	r := rand.New(rand.NewPCG(4, 4))
	for range 20_000 {
		bad := slices.Clone(log)
		for range 1 + r.IntN(3) {
			bad[r.IntN(len(bad))] ^= 1 << r.IntN(8)
		}
		decodeItems(bad, programs, 1)
	}
}

func FuzzDecode(f *testing.F) {
	log, programs := damaged(f)
	f.Add(log)
	f.Fuzz(func(t *testing.T, log []byte) { decodeItems(log, programs, 1) })
}

// TestDamagedRing: nonsense in the shared memory is dropped and counted, and the ring goes on.
func TestDamagedRing(t *testing.T) {
	b := newBench(t)
	id := eventProgram(b.a)
	send := func() {
		b.run(&Code{ID: id, Insts: seq(op(opcode.Item), op(opcode.EndItem), op(opcode.Exit))})
		b.a.Commit(Header{}, &b.hit)
	}
	for _, word := range []uint64{1 << 56, 7, 9, 8, 1 << 31, 16 | committed} {
		send()
		binary.LittleEndian.PutUint64(b.a.ring.data[b.a.load(wordRingTail)%b.a.ring.size:], word)
		if rec, ok := b.a.Next(); ok {
			t.Errorf("%#x gave a record: %+v", word, rec)
		}
		send()
		if _, ok := b.a.Next(); !ok {
			t.Fatalf("%#x stopped the ring", word)
		}
	}
	if b.a.Lost()["ring full"] == 0 {
		t.Error("not counted")
	}
}

func TestTraps(t *testing.T) {
	a := newArena(t)
	for i := range uint64(3) {
		a.Trapped(TrapRead, 5, 17, i)
	}
	a.Trapped(TrapFuel, 5, 17, 0)
	a.Trapped(NoTrap, 5, 17, 0)
	a.Trapped(NumTraps, 5, 17, 0)
	want := []TrapCount{{TrapRead, 5, 17, 2, 3}, {TrapFuel, 5, 17, 0, 1}}
	got := a.Traps()
	slices.SortFunc(got, func(x, y TrapCount) int { return int(y.Count) - int(x.Count) })
	if !slices.Equal(got, want) || a.TrapTotal(TrapRead) != 3 || a.TrapTotal(NoTrap) != 0 {
		t.Errorf("%+v", got)
	}
	for i := range uint32(5000) { // more places than the table has
		a.Trapped(TrapUser, 1, i, 0)
	}
	if a.TrapTotal(TrapUser) != 5000 || len(a.Traps()) > trapSlots {
		t.Error("places beyond the table are not counted")
	}
	for trap := NoTrap; trap < NumTraps; trap++ {
		if trap.Error() == "" || strings.HasPrefix(trap.String(), "unknown") {
			t.Errorf("trap %d has no text", trap)
		}
	}
}
