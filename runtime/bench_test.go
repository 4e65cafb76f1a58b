package runtime

import "testing"

// countdown is a loop of n rounds of simple steps.
func countdown(n uint64) *Code {
	return &Code{Fuel: MaxFuel, Insts: seq(
		push(0), opV(OpPushD, n), // sum n
		op(OpDup), op(OpPushTV), op(OpAdd), opA(OpPopTV, 0), // 2: t0 += n
		push(3), op(OpXor), push(3), op(OpXor),
		push(1), op(OpSub), op(OpDup), opA(OpJnz, 2),
		op(OpExit))}
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
	c := &Code{Insts: seq(op(OpExit))}
	for b.Loop() {
		w.run(c)
	}
}

func BenchmarkAggregate(b *testing.B) {
	w := newBench(b)
	count, countOff := w.declare(b, Object{Kind: KindCount})
	keyed, keyedOff := w.declare(b, Object{Kind: KindSum, Keys: 1})
	w.refine(b, count, ValueAny)
	w.refine(b, keyed, ValueAny, ValueInt)
	b.Run("count", func(b *testing.B) {
		c := &Code{Insts: seq(push(1), opV(OpAgg, countOff), op(OpExit))}
		for b.Loop() {
			w.run(c)
		}
	})
	b.Run("keyed", func(b *testing.B) {
		c := &Code{Insts: seq(push(5), op(OpKeyInt), push(1), opV(OpAgg, keyedOff), op(OpExit))}
		for b.Loop() {
			w.run(c)
		}
	})
	_, evictOff := w.declare(b, Object{Kind: KindCount, Keys: 1, Full: FullEvict})
	w.refine(b, 2, ValueAny, ValueInt)
	b.Run("evict", func(b *testing.B) {
		c := &Code{Temps: 1, Insts: seq(opV(OpPushD, 0), op(OpKeyInt), push(1), opV(OpAgg, evictOff), op(OpExit))}
		for b.Loop() {
			c.Insts[0].V++
			w.run(c)
		}
	})
}

func BenchmarkCommit(b *testing.B) {
	w := newBench(b)
	id := w.a.Register(ProgramInfo{Formats: []Format{{Kind: ItemEvent, Fields: []RecordField{{Name: "n"}}}}})
	c := &Code{ID: id, Insts: seq(op(OpItem), push(1), op(OpLogInt), op(OpEndItem), opA(OpExit, uint32(ExitEvent)))}
	w.run(c)
	b.Run("commit", func(b *testing.B) {
		for b.Loop() {
			if !w.a.Commit(Header{}, &w.hit) {
				w.a.ring.resync()
			}
		}
	})
	w.a.ring.resync()
	b.Run("commit and drain", func(b *testing.B) {
		for b.Loop() {
			w.a.Commit(Header{}, &w.hit)
			w.a.Next()
		}
	})
}
