package runtime

import (
	"testing"

	"gotap/runtime/object"
	"gotap/runtime/opcode"
	"gotap/runtime/outcome"
	"gotap/runtime/record"
	"gotap/runtime/value"
)

// countdown is a loop of n rounds of simple steps.
func countdown(n uint64) *Code {
	return &Code{Fuel: MaxFuel, Insts: seq(
		push(0), opV(opcode.PushD, n), // sum n
		op(opcode.Dup), op(opcode.PushTV), op(opcode.Add), opA(opcode.PopTV, 0), // 2: t0 += n
		push(3), op(opcode.Xor), push(3), op(opcode.Xor),
		push(1), op(opcode.Sub), op(opcode.Dup), opA(opcode.Jnz, 2),
		op(opcode.Exit))}
}

func BenchmarkSteps(b *testing.B) {
	w := newBench(b)
	c := countdown(50_000)
	c.Temps = 1
	var steps uint64
	for b.Loop() {
		steps += uint64(w.run(c).Steps)
	}
	b.ReportMetric(float64(steps)/b.Elapsed().Seconds()/1e6, "Msteps/s")
}

func BenchmarkRunEmpty(b *testing.B) {
	w := newBench(b)
	c := &Code{Insts: seq(op(opcode.Exit))}
	for b.Loop() {
		w.run(c)
	}
}

func BenchmarkAggregate(b *testing.B) {
	w := newBench(b)
	count, countOff := w.declare(b, object.Object{Kind: object.KindCount})
	keyed, keyedOff := w.declare(b, object.Object{Kind: object.KindSum, Keys: 1})
	w.refine(b, count, value.KindAny)
	w.refine(b, keyed, value.KindAny, value.KindInt)
	b.Run("count", func(b *testing.B) {
		c := &Code{Insts: seq(push(1), opV(opcode.Agg, countOff), op(opcode.Exit))}
		for b.Loop() {
			w.run(c)
		}
	})
	b.Run("keyed", func(b *testing.B) {
		c := &Code{Insts: seq(push(5), op(opcode.KeyInt), push(1), opV(opcode.Agg, keyedOff), op(opcode.Exit))}
		for b.Loop() {
			w.run(c)
		}
	})
	_, evictOff := w.declare(b, object.Object{Kind: object.KindCount, Keys: 1, Full: object.FullEvict})
	w.refine(b, 2, value.KindAny, value.KindInt)
	b.Run("evict", func(b *testing.B) {
		c := &Code{Temps: 1, Insts: seq(opV(opcode.PushD, 0), op(opcode.KeyInt), push(1), opV(opcode.Agg, evictOff), op(opcode.Exit))}
		for b.Loop() {
			c.Insts[0].V++
			w.run(c)
		}
	})
}

// drain empties the ring.
func drain(w *bench) {
	for ok := true; ok; {
		_, ok = w.a.Next()
	}
}

func BenchmarkCommit(b *testing.B) {
	w := newBench(b)
	id := w.a.Register(record.Program{Formats: []record.Format{{Kind: record.ItemEvent, Fields: []record.Field{{Name: "n"}}}}})
	c := &Code{ID: id, Insts: seq(op(opcode.Item), push(1), op(opcode.LogInt), op(opcode.EndItem), opA(opcode.Exit, uint32(outcome.ExitEvent)))}
	w.run(c)
	b.Run("commit", func(b *testing.B) {
		for b.Loop() {
			if !w.a.Commit(record.Header{}, &w.hit) {
				b.StopTimer()
				drain(w)
				b.StartTimer()
			}
		}
	})
	drain(w)
	b.Run("commit and drain", func(b *testing.B) {
		for b.Loop() {
			w.a.Commit(record.Header{}, &w.hit)
			w.a.Next()
		}
	})
}
