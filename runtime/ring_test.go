package runtime

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gotap/runtime/arena"
	"gotap/runtime/opcode"
	"gotap/runtime/outcome"
	"gotap/runtime/record"
	"gotap/runtime/value"
)

// Offsets in the arena: the word that is 1 while the host sleeps, the ring's data in bytes.
const (
	ringSleep = 32
	ringStart = 64<<10 + 8192*128
	ringSize  = 64 << 10
)

// eventProgram registers a program that logs one item of these kinds.
func eventProgram(a *arena.Arena, kinds ...value.Kind) uint32 {
	f := record.Format{Kind: record.ItemEvent}
	for _, k := range kinds {
		f.Fields = append(f.Fields, record.Field{Kind: k})
	}
	return a.Register(record.Program{Name: "p", Formats: []record.Format{{Kind: record.ItemLog}, f}})
}

// TestRecord sends one item with every kind of field through log, ring and decoder.
func TestRecord(t *testing.T) {
	b := newBench(t)
	id := eventProgram(b.a, value.KindInt, value.KindFloat, value.KindText, value.KindText, value.KindStack, value.KindBytes, value.KindBool)
	hdr := record.Header{Program: id, Probe: 7, Pid: 8, Tid: 9, Time: 1 << 40, Hold: 3, Comm: [16]byte{'c'}, Kind: outcome.ExitHold}
	out := b.run(&Code{ID: id, Texts: []string{"const"}, Insts: seq(
		opA(opcode.Item, 1), push(-1), op(opcode.LogInt), push(bitsOf(1.5)), op(opcode.LogFloat), opA(opcode.PushS, 0), op(opcode.LogText),
		push(0x1040), push(3), op(opcode.Str), op(opcode.LogText), push(2), op(opcode.Stack), op(opcode.LogText),
		push(0x1000), push(6), op(opcode.Bytes), op(opcode.LogText), push(1), op(opcode.LogInt), op(opcode.EndItem),
		opA(opcode.Item, 0), op(opcode.EndItem), opA(opcode.Exit, uint32(outcome.ExitHold)))})
	if out.Trap != outcome.NoTrap || !b.a.Commit(hdr, &b.hit) {
		t.Fatal(out)
	}
	rec, ok := b.a.Next()
	hdr.Size, hdr.Flags = rec.Size, record.FlagEvent|record.FlagHold
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
	for atomic.LoadUint64(&b.memory[ringSleep]) == 0 {
		time.Sleep(time.Millisecond)
	}
	b.run(&Code{Insts: seq(op(opcode.Exit))})
	if !b.a.Commit(record.Header{}, &b.hit) || b.a.Written() != 0 || atomic.LoadUint64(&b.memory[ringSleep]) != 1 {
		t.Error("an empty hit did something")
	}
	close(done)
	if <-woken {
		t.Error("an empty hit woke the host")
	}
	go func() { woken <- b.a.Wait(nil) }()
	b.run(&Code{ID: eventProgram(b.a), Insts: seq(op(opcode.Item), op(opcode.EndItem), op(opcode.Exit))})
	b.a.Commit(record.Header{}, &b.hit)
	if !<-woken {
		t.Error("not woken")
	}
}

// TestRingFull: the newest is dropped and counted, and what was committed is still whole.
func TestRingFull(t *testing.T) {
	b := newBench(t)
	id := eventProgram(b.a, value.KindInt)
	commit := func(n int64) bool {
		b.run(&Code{ID: id, Insts: seq(opA(opcode.Item, 1), push(n), op(opcode.LogInt), op(opcode.EndItem), op(opcode.Exit))})
		return b.a.Commit(record.Header{}, &b.hit)
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
	id := eventProgram(a, value.KindInt, value.KindText)
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
			a.Commit(record.Header{Tid: uint32(tid)}, &b.hit)
		}
	})
	for a.Pending() {
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
	id := eventProgram(b.a, value.KindText)
	item := seq(opA(opcode.Item, 1), push(0x1040), push(500), op(opcode.Bytes), op(opcode.LogText), op(opcode.EndItem))
	three := append(append(slices.Clone(item), item...), item...)
	exit := opA(opcode.Exit, uint32(outcome.ExitHold))
	out := b.run(&Code{ID: id, Insts: append(slices.Clone(three), exit)})
	if out.Kind != outcome.ExitPlain || b.hit.HasEvent() || b.a.Lost()["log full"] != 2 || b.hit.Len() != 8+8+504 {
		t.Errorf("%+v, %d bytes, lost %v", out, b.hit.Len(), b.a.Lost())
	}
	out = b.run(&Code{ID: id, LogMax: 4096, Insts: append(slices.Clone(three), exit)})
	if out.Kind != outcome.ExitHold || !b.hit.HasEvent() || b.hit.Len() != 3*520 {
		t.Errorf("%+v, %d bytes", out, b.hit.Len())
	}
}

// TestDefinitionLog does the log commands of DProbes.
func TestDefinitionLog(t *testing.T) {
	b := newBench(t)
	id := b.a.Register(record.Program{Formats: []record.Format{
		{Kind: record.ItemRange, Fields: []record.Field{{Kind: value.KindBytes}}},
		{Kind: record.ItemString, Fields: []record.Field{{Kind: value.KindText}}},
		{Kind: record.ItemWords, Fields: []record.Field{{Kind: value.KindInt}, {Kind: value.KindInt}}}}})
	run := func(limit int, list ...Inst) []record.Item {
		out := b.run(&Code{ID: id, LogMax: limit, Insts: append(list, op(opcode.Exit))})
		if out.Trap != outcome.NoTrap {
			t.Fatal(out.Trap)
		}
		return b.logged()
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
	if out.Trap != outcome.TrapRead || out.Addr != 0 || b.hit.Len() != 24 {
		t.Errorf("%+v, %d bytes", out, b.hit.Len())
	}
	if items := run(8, push(5), push(0x1000), opA(opcode.LogRange, 0)); len(items) != 0 || b.a.Lost()["log full"] != 1 {
		t.Errorf("%v %v", items, b.a.Lost())
	}
}

// TestDamagedRing: nonsense in the shared memory is dropped and counted, and the ring goes on.
func TestDamagedRing(t *testing.T) {
	b := newBench(t)
	id := eventProgram(b.a)
	send := func() {
		b.run(&Code{ID: id, Insts: seq(op(opcode.Item), op(opcode.EndItem), op(opcode.Exit))})
		b.a.Commit(record.Header{}, &b.hit)
	}
	for _, word := range []uint64{1 << 56, 7, 9, 8, 1 << 31, 16 | 1<<56} {
		send()
		b.memory[ringStart/8+b.a.Consumed()%ringSize/8] = word
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
