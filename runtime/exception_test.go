package runtime

import (
	"slices"
	"testing"

	"gotap/runtime/object"
	"gotap/runtime/opcode"
	"gotap/runtime/outcome"
	"gotap/runtime/record"
	"gotap/runtime/value"
)

// handled is a program that sets a handler, fails by the instructions given, and would end in
// the handler with the exception on the stack.
func handled(fails ...Inst) *Code {
	list := append(seq(opA(opcode.SetX, uint32(len(fails)+2))), fails...)
	list = append(list, op(opcode.Abort))
	for i := range 3 {
		list = append(list, opA(opcode.PopTV, uint32(2-i)))
	}
	return &Code{Temps: 3, Unsafe: true, Fuel: 100, Insts: append(list, op(opcode.Exit))}
}

// TestCaught: which traps a handler gets, with which words.
func TestCaught(t *testing.T) {
	b := newBench(t)
	_, array := b.declare(t, object.Object{Kind: object.KindArray, Size: 3})
	for name, c := range map[string]struct {
		fails []Inst
		want  []uint64 // p2 p1 code
	}{
		"read":     {seq(push(8), op(opcode.Load8)), words(0, 8, 1)},
		"write":    {seq(push(8), push(1), op(opcode.Store8)), words(0, 8, 1)},
		"divide":   {seq(push(8), push(0), op(opcode.Quo)), words(0, 0, 0x20)},
		"index":    {seq(push(3), Inst{opcode.PushLV, ClassGlobal, array}), words(3, 2, 0x40)},
		"position": {seq(push(8), op(opcode.PopLP)), words(8, 5, 0x40)},
		"text":     {seq(push(-1), op(opcode.Slen)), words(0, 0, 0x1_0000)},
		"register": {seq(opA(opcode.Arg, 99)), words(0, 0, 0x8_0000)},
		"call":     {seq(opA(opcode.PushThis, 0)), words(0, 0, 0x4_0000)},
		"raise":    {seq(push(1), push(2), push(3), op(opcode.Raise)), words(1, 2, 3)},
		"deeper":   {seq(push(7), opA(opcode.Call, 4), op(opcode.Nop), push(8), op(opcode.Load8)), words(0, 8, 1)},
	} {
		out := b.run(handled(c.fails...))
		if got := b.m.temps[:3]; out.Trap != outcome.NoTrap || out.Abort || !slices.Equal(got, c.want) {
			t.Errorf("%s: %x, want %x; %+v", name, got, c.want, out)
		}
	}
}

// TestNotCaught: what no handler gets, whatever the mask.
func TestNotCaught(t *testing.T) {
	b := newBench(t)
	for name, c := range map[string]struct {
		fails []Inst
		trap  outcome.Trap
	}{
		"fuel":      {seq(opA(opcode.Jmp, 1)), outcome.TrapFuel},
		"underflow": {seq(op(opcode.Add)), outcome.TrapStack},
		"overflow":  {seq(push(1), opA(opcode.DupN, 40)), outcome.TrapStack},
		"operation": {seq(op(opcode.NumOps)), outcome.TrapOp},
		"calls":     {seq(opA(opcode.Call, 1)), outcome.TrapCalls},
		"return":    {seq(op(opcode.Ret)), outcome.TrapCalls},
		"unset":     {seq(op(opcode.UnsetX), push(8), op(opcode.Load8)), outcome.TrapRead},
	} {
		code := handled(c.fails...)
		code.Mask = MaskSet | 0xffff
		if out := b.run(code); out.Trap != c.trap || out.Steps > code.Fuel {
			t.Errorf("%s: %+v, want %v", name, out, c.trap)
		}
	}
	code := handled(push(8), op(opcode.Load8))
	if code.Insts[0].A = 1000; b.run(code).Trap != outcome.TrapOp {
		t.Error("a handler outside of the program")
	}
	if code = handled(push(8), op(opcode.Load8)); true {
		code.Mask = MaskSet | ExDivide
	}
	if out := b.run(code); out.Trap != outcome.TrapRead || out.Addr != 8 {
		t.Errorf("masked: %+v", out)
	}
}

// TestExceptionsDoNotAllocate: nor do traces.
func TestExceptionsDoNotAllocate(t *testing.T) {
	b := newBench(t)
	_, array := b.declare(t, object.Object{Kind: object.KindArray, Size: 3})
	code := handled(push(0), push(3), Inst{opcode.TraceVars, ClassLocal, array}, push(0), push(1), op(opcode.TraceStack),
		op(opcode.LogTrace), push(8), op(opcode.Load8))
	code.Trace, code.Auto = 1, true
	code.ID = b.a.Register(record.Program{Formats: []record.Format{{Kind: record.ItemTrace, Fields: []record.Field{{Kind: value.KindText}}}}})
	if n := testing.AllocsPerRun(200, func() {
		if out := b.run(code); out.Trap != outcome.NoTrap || b.hit.Len() == 0 {
			t.Fatalf("%+v", out)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// BenchmarkException is what an exception costs beside a run without one (BenchmarkRunEmpty).
func BenchmarkException(b *testing.B) {
	w := newBench(b)
	code := handled(push(1), push(0), op(opcode.Quo))
	for b.Loop() {
		w.run(code)
	}
}
