package amd64

import (
	"fmt"
	"math"
	"os"
	"testing"

	"gotap/runtime/gate"
	"gotap/runtime/native"
	"gotap/runtime/native/amd64/asm"
	"gotap/runtime/object"
	"gotap/runtime/opcode"
	"gotap/runtime/value"
)

// BenchmarkHit measures a hit over the plain call of an empty function.
func BenchmarkHit(b *testing.B) {
	w := newWorld(b)
	w.c.setControl(1)
	w.setBarrier(0)
	count, _ := w.object(object.Object{Kind: object.KindCount})
	avg, _ := w.object(object.Object{Kind: object.KindAvg})
	hist, _ := w.object(object.Object{Kind: object.KindHist})
	lhist, _ := w.object(object.Object{Kind: object.KindLhist, Hi: 1000, Step: 10})
	exit := op(opcode.Exit)
	counts := w.plan(push(1), opV(opcode.Agg, count), exit)
	when := w.plan(opA(opcode.Arg, 0), push(100), op(opcode.Gt), opA(opcode.Jz, 5), exit, op(opcode.Abort))
	always := w.plan(opA(opcode.Arg, 0), push(100), op(opcode.Le), opA(opcode.Jz, 5), exit, op(opcode.Abort))
	add := func(off uint64) *native.Plan { return w.plan(opA(opcode.Arg, 0), opV(opcode.Agg, off), exit) }
	one, oneID := w.object(object.Object{Kind: object.KindCount, Keys: 1, Max: 1000}, value.KindInt)
	w.arena.Handle(oneID).Add(1, value.Int(42))
	keyed := w.plan(opA(opcode.Arg, 0), op(opcode.KeyInt), push(1), opV(opcode.Agg, one), exit)
	const twoPages = dataAddr + 2*pageSize
	read := w.plan(push(dataAddr), op(opcode.Load64), opV(opcode.Agg, hist), exit)
	// Two ranges share a hint, so that each read is searched.
	search := w.plan(push(dataAddr), op(opcode.Load64), opV(opcode.Agg, hist), push(twoPages), op(opcode.Load64), opV(opcode.Agg, hist), exit)
	// What scripts write most: a time in nanoseconds as milliseconds.
	float := func(off uint64) *native.Plan {
		return w.plan(opA(opcode.Arg, 0), op(opcode.Itof), opV(opcode.PushD, math.Float64bits(1e6)), op(opcode.Fdiv), opV(opcode.AggFloat, off), exit)
	}
	newGate := func(l gate.Limits) *gate.Gate { return w.arena.NewGate(l) }
	const times = 5_000_000
	plain := measure(w.c, []byte{0xc3}, times)
	for _, c := range []struct {
		name string
		p    []native.Program
		s    Site
	}{
		{"disarmed", nil, Site{}},
		{"count", []native.Program{{Run: counts, Gate: newGate(gate.Limits{})}}, Site{}},
		{"count-without-gate", []native.Program{{Run: counts}}, Site{}},
		{"count-every", []native.Program{{Run: counts, Gate: newGate(gate.Limits{Every: 10})}}, Site{}},
		{"count-flags-redzone", []native.Program{{Run: counts, Gate: newGate(gate.Limits{})}}, Site{Flags: true, RedZone: true}},
		{"reject", []native.Program{{Run: counts, When: when, Gate: newGate(gate.Limits{})}}, Site{}},
		{"pass-and-count", []native.Program{{Run: counts, When: always, Gate: newGate(gate.Limits{})}}, Site{}},
		{"hist", []native.Program{{Run: add(hist), Gate: newGate(gate.Limits{})}}, Site{}},
		{"lhist", []native.Program{{Run: add(lhist), Gate: newGate(gate.Limits{})}}, Site{}},
		{"keyed-count", []native.Program{{Run: keyed, Gate: newGate(gate.Limits{})}}, Site{}},
		{"hist-of-read", []native.Program{{Run: read, Gate: newGate(gate.Limits{})}}, Site{}},
		{"hist-of-two-searched", []native.Program{{Run: search, Gate: newGate(gate.Limits{})}}, Site{}},
		{"avg-of-float", []native.Program{{Run: float(avg), Gate: newGate(gate.Limits{})}}, Site{}},
		{"hist-of-float", []native.Program{{Run: float(hist), Gate: newGate(gate.Limits{})}}, Site{}},
		{"avg", []native.Program{{Run: add(avg), Gate: newGate(gate.Limits{})}}, Site{}},
	} {
		b.Run(c.name, func(b *testing.B) {
			c.s.Addr, c.s.Tail, w.sites = codeAddr, ret, 0
			stub := w.place(w.c, c.p, c.s)
			for b.Loop() {
				b.ReportMetric(measure(w.c, stub.Code, times)-plain, "ns/hit")
			}
		})
	}
}

// measure returns nanoseconds of a call of code in a loop: the least of several measurements.
func measure(c *tracee, code []byte, times uint64) float64 {
	copy(c.code(), code)
	best := uint64(math.MaxUint64)
	for range 7 {
		regs := c.loop(codeAddr, times)
		regs[fileIndex[asm.RDI]] = 42
		c.do(func() {
			start := c.ran()
			c.run(&regs)
			best = min(best, c.ran()-start)
		})
	}
	return float64(best) / float64(times)
}

// ran returns for how many nanoseconds the tracee has run.
func (c *tracee) ran() (n uint64) {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/schedstat", c.pid))
	fmt.Sscan(string(text), &n)
	return n
}
