package runtime

import (
	"math"
	"slices"
	"testing"

	"gotap/runtime/object"
	"gotap/runtime/opcode"
	"gotap/runtime/outcome"
	"gotap/runtime/record"
	"gotap/runtime/value"
)

const minInt, maxInt = math.MinInt64, math.MaxInt64

func bitsOf(f float64) int64 { return int64(math.Float64bits(f)) }

// opCase is one operation: what is pushed before it, and what is then on the stack or which
// trap it raises.
type opCase struct {
	name  string
	in    []int64
	inst  Inst
	want  []int64
	trap  outcome.Trap
	texts []string
}

// simpleCases are the operations on the stack, integers and floats.
var simpleCases = []opCase{
	{"nop", []int64{1}, op(opcode.Nop), []int64{1}, 0, nil},
	{"push", nil, push(-5), []int64{-5}, 0, nil},
	{"dup", []int64{4}, op(opcode.Dup), []int64{4, 4}, 0, nil},
	{"dup none", nil, op(opcode.Dup), nil, outcome.TrapStack, nil},
	{"dup n", []int64{4}, opA(opcode.DupN, 3), []int64{4, 4, 4, 4}, 0, nil},
	{"dup 0", []int64{4}, opA(opcode.DupN, 0), []int64{4}, 0, nil},
	{"dup too many", []int64{4}, opA(opcode.DupN, 32), nil, outcome.TrapStack, nil},
	{"dup 2^32-1", []int64{4}, opA(opcode.DupN, math.MaxUint32), nil, outcome.TrapStack, nil},
	{"xchg", []int64{1, 2}, op(opcode.Xchg), []int64{2, 1}, 0, nil},
	{"xchg one", []int64{1}, op(opcode.Xchg), nil, outcome.TrapStack, nil},
	{"over", []int64{1, 2}, op(opcode.Over), []int64{1, 2, 1}, 0, nil},
	{"drop", []int64{1, 2, 3}, opA(opcode.Drop, 2), []int64{1}, 0, nil},
	{"drop all", []int64{1, 2}, opA(opcode.Drop, 2), nil, 0, nil},
	{"drop too many", []int64{1, 2}, opA(opcode.Drop, 3), nil, outcome.TrapStack, nil},
	{"pick top", []int64{1, 2, 3}, opA(opcode.Pick, 0), []int64{1, 2, 3, 3}, 0, nil},
	{"pick", []int64{1, 2, 3}, opA(opcode.Pick, 2), []int64{1, 2, 3, 1}, 0, nil},
	{"pick below", []int64{1, 2, 3}, opA(opcode.Pick, 3), nil, outcome.TrapStack, nil},
	{"poke itself", []int64{1, 2}, opA(opcode.Poke, 0), []int64{1}, 0, nil},
	{"poke", []int64{1, 2, 3}, opA(opcode.Poke, 2), []int64{3, 2}, 0, nil},
	{"poke below", []int64{1, 2}, opA(opcode.Poke, 2), nil, outcome.TrapStack, nil},
	{"depth", []int64{9, 9}, op(opcode.Depth), []int64{9, 9, 2}, 0, nil},
	{"push tv", nil, opA(opcode.PushTV, 200), []int64{0}, 0, nil},
	{"push tv out of range", nil, opA(opcode.PushTV, MaxTemps), nil, outcome.TrapIndex, nil},
	{"pop tv out of range", []int64{1}, opA(opcode.PopTV, MaxTemps), nil, outcome.TrapIndex, nil},

	{"add wraps", []int64{maxInt, 1}, op(opcode.Add), []int64{minInt}, 0, nil},
	{"sub wraps", []int64{minInt, 1}, op(opcode.Sub), []int64{maxInt}, 0, nil},
	{"mul", []int64{-3, 5}, op(opcode.Mul), []int64{-15}, 0, nil},
	{"mul wraps", []int64{1 << 62, 4}, op(opcode.Mul), []int64{0}, 0, nil},
	{"quo toward zero", []int64{-7, 2}, op(opcode.Quo), []int64{-3}, 0, nil},
	{"quo extreme", []int64{minInt, -1}, op(opcode.Quo), []int64{minInt}, 0, nil},
	{"quo by zero", []int64{1, 0}, op(opcode.Quo), nil, outcome.TrapDivide, nil},
	{"rem", []int64{-7, 2}, op(opcode.Rem), []int64{-1}, 0, nil},
	{"rem extreme", []int64{minInt, -1}, op(opcode.Rem), []int64{0}, 0, nil},
	{"rem by zero", []int64{1, 0}, op(opcode.Rem), nil, outcome.TrapDivide, nil},
	{"udivmod", []int64{-1, 10}, op(opcode.Udivmod), []int64{5, 1844674407370955161}, 0, nil},
	{"udivmod by zero", []int64{1, 0}, op(opcode.Udivmod), nil, outcome.TrapDivide, nil},
	{"sdivmod", []int64{-17, 5}, op(opcode.Sdivmod), []int64{-2, -3}, 0, nil},
	{"sdivmod by zero", []int64{1, 0}, op(opcode.Sdivmod), nil, outcome.TrapDivide, nil},
	{"neg", []int64{5}, op(opcode.Neg), []int64{-5}, 0, nil},
	{"neg smallest", []int64{minInt}, op(opcode.Neg), []int64{minInt}, 0, nil},
	{"not", []int64{0}, op(opcode.Not), []int64{-1}, 0, nil},
	{"shl modulo 64", []int64{1, 65}, op(opcode.Shl), []int64{2}, 0, nil},
	{"shl by -1", []int64{1, -1}, op(opcode.Shl), []int64{minInt}, 0, nil},
	{"shr is logical", []int64{-1, 60}, op(opcode.Shr), []int64{15}, 0, nil},
	{"sar keeps the sign", []int64{-8, 1}, op(opcode.Sar), []int64{-4}, 0, nil},
	{"rol", []int64{minInt, 1}, op(opcode.Rol), []int64{1}, 0, nil},
	{"ror", []int64{1, 65}, op(opcode.Ror), []int64{minInt}, 0, nil},
	{"lt signed", []int64{-1, 1}, op(opcode.Lt), []int64{1}, 0, nil},
	{"ult unsigned", []int64{-1, 1}, op(opcode.Ult), []int64{0}, 0, nil},
	{"ule", []int64{-1, -1}, op(opcode.Ule), []int64{1}, 0, nil},
	{"lnot", []int64{7}, op(opcode.Lnot), []int64{0}, 0, nil},
	{"bool", []int64{minInt}, op(opcode.Bool), []int64{1}, 0, nil},
	{"min", []int64{-1, 1}, op(opcode.Min), []int64{-1}, 0, nil},
	{"max", []int64{-1, 1}, op(opcode.Max), []int64{1}, 0, nil},
	{"abs", []int64{-9}, op(opcode.Abs), []int64{9}, 0, nil},
	{"abs wraps", []int64{minInt}, op(opcode.Abs), []int64{minInt}, 0, nil},
	{"clz", []int64{7}, op(opcode.Clz), []int64{61}, 0, nil},
	{"clz 0", []int64{0}, op(opcode.Clz), []int64{64}, 0, nil},
	{"popcnt", []int64{-1}, op(opcode.Popcnt), []int64{64}, 0, nil},
	{"ext 8", []int64{0x1ff}, opA(opcode.Ext, 8), []int64{-1}, 0, nil},
	{"ext 0", []int64{0x1ff}, opA(opcode.Ext, 0), []int64{0}, 0, nil},
	{"ext 64", []int64{-2}, opA(opcode.Ext, 64), []int64{-2}, 0, nil},
	{"zext 8", []int64{-1}, opA(opcode.Zext, 8), []int64{255}, 0, nil},
	{"zext 0", []int64{-1}, opA(opcode.Zext, 0), []int64{0}, 0, nil},

	{"fadd", []int64{bitsOf(.5), bitsOf(.25)}, op(opcode.Fadd), []int64{bitsOf(.75)}, 0, nil},
	{"fsub", []int64{bitsOf(.5), bitsOf(.25)}, op(opcode.Fsub), []int64{bitsOf(.25)}, 0, nil},
	{"fmul", []int64{bitsOf(.5), bitsOf(-4)}, op(opcode.Fmul), []int64{bitsOf(-2)}, 0, nil},
	{"fdiv by zero", []int64{bitsOf(1), bitsOf(0)}, op(opcode.Fdiv), []int64{bitsOf(math.Inf(1))}, 0, nil},
	{"frem", []int64{bitsOf(-7.5), bitsOf(2)}, op(opcode.Frem), []int64{bitsOf(-1.5)}, 0, nil},
	{"fneg", []int64{bitsOf(0)}, op(opcode.Fneg), []int64{minInt}, 0, nil},
	{"feq nan", []int64{bitsOf(math.NaN()), bitsOf(math.NaN())}, op(opcode.Feq), []int64{0}, 0, nil},
	{"fne nan", []int64{bitsOf(math.NaN()), bitsOf(1)}, op(opcode.Fne), []int64{1}, 0, nil},
	{"flt", []int64{bitsOf(-1), bitsOf(1)}, op(opcode.Flt), []int64{1}, 0, nil},
	{"fle", []int64{bitsOf(1), bitsOf(1)}, op(opcode.Fle), []int64{1}, 0, nil},
	{"fbool 0", []int64{minInt}, op(opcode.Fbool), []int64{0}, 0, nil},
	{"fbool nan", []int64{bitsOf(math.NaN())}, op(opcode.Fbool), []int64{0}, 0, nil},
	{"fbool", []int64{bitsOf(.1)}, op(opcode.Fbool), []int64{1}, 0, nil},
	{"itof", []int64{-3}, op(opcode.Itof), []int64{bitsOf(-3)}, 0, nil},
	{"utof", []int64{-1}, op(opcode.Utof), []int64{bitsOf(18446744073709551615)}, 0, nil},
	{"ftoi", []int64{bitsOf(-2.9)}, op(opcode.Ftoi), []int64{-2}, 0, nil},
	{"ftoi nan", []int64{bitsOf(math.NaN())}, op(opcode.Ftoi), []int64{0}, 0, nil},
	{"ftoi large", []int64{bitsOf(1e300)}, op(opcode.Ftoi), []int64{maxInt}, 0, nil},
	{"ftoi small", []int64{bitsOf(math.Inf(-1))}, op(opcode.Ftoi), []int64{minInt}, 0, nil},
	{"f32", []int64{0x3fc00000}, op(opcode.F32), []int64{bitsOf(1.5)}, 0, nil},
	{"no operation", nil, op(opcode.NumOps), nil, outcome.TrapOp, nil},
	{"no operation 255", nil, op(255), nil, outcome.TrapOp, nil},
}

// targetCases are the operations on the target of newThread.
var targetCases = []opCase{
	{"push r", nil, opV(opcode.PushR, 0<<16|64), []int64{0x1122334455667788}, 0, nil},
	{"push r eax", nil, opV(opcode.PushR, 0<<16|32), []int64{0x55667788}, 0, nil},
	{"push r ah", nil, opV(opcode.PushR, 0<<16|8<<8|8), []int64{0x77}, 0, nil},
	{"push r none", nil, opV(opcode.PushR, 2<<16|64), nil, outcome.TrapRegister, nil},
	{"pop r refused", []int64{1}, opV(opcode.PopR, 64), nil, outcome.TrapOp, nil},
	{"load 8", []int64{0x1010}, op(opcode.Load8), []int64{0xff}, 0, nil},
	{"load 16", []int64{0x1010}, op(opcode.Load16), []int64{0xeeff}, 0, nil},
	{"load 32", []int64{0x1010}, op(opcode.Load32), []int64{0xccddeeff}, 0, nil},
	{"load 64", []int64{0x1010}, op(opcode.Load64), []int64{-0x7766554433221101}, 0, nil},
	{"load s8", []int64{0x1010}, op(opcode.LoadS8), []int64{-1}, 0, nil},
	{"load s16", []int64{0x1010}, op(opcode.LoadS16), []int64{-0x1101}, 0, nil},
	{"load s32", []int64{0x1010}, op(opcode.LoadS32), []int64{-0x33221101}, 0, nil},
	{"load f32", []int64{0x1018}, op(opcode.LoadF32), []int64{bitsOf(1.5)}, 0, nil},
	{"load ptr", []int64{0x1010}, op(opcode.LoadPtr), []int64{-0x7766554433221101}, 0, nil},
	{"load bad", []int64{0}, op(opcode.Load64), nil, outcome.TrapRead, nil},
	{"load over the end", []int64{0x2ffc}, op(opcode.Load64), nil, outcome.TrapRead, nil},
	{"store refused", []int64{0x1000, 1}, op(opcode.Store8), nil, outcome.TrapOp, nil},
	{"readable", []int64{0x1000, 8192}, op(opcode.Readable), []int64{1}, 0, nil},
	{"readable too long", []int64{0x1000, 8193}, op(opcode.Readable), []int64{0}, 0, nil},
	{"readable nothing", []int64{0, 0}, op(opcode.Readable), []int64{1}, 0, nil},
	{"readable wraps", []int64{-1, 2}, op(opcode.Readable), []int64{0}, 0, nil},
	{"writable", []int64{0x1000, 8192}, op(opcode.Writable), []int64{1}, 0, nil},
	{"writable not", []int64{0x1001, 8192}, op(opcode.Writable), []int64{0}, 0, nil},
	{"arg", nil, opA(opcode.Arg, 1), []int64{-1}, 0, nil},
	{"arg none", nil, opA(opcode.Arg, 2), nil, outcome.TrapRegister, nil},
	{"argf", nil, opA(opcode.ArgF, 0), []int64{bitsOf(1.5)}, 0, nil},
	{"argf none", nil, opA(opcode.ArgF, 9), nil, outcome.TrapRegister, nil},
	{"ret", nil, op(opcode.Retval), []int64{0}, 0, nil},
	{"set ret refused", []int64{1}, op(opcode.SetRet), nil, outcome.TrapOp, nil},
	{"field", nil, opA(opcode.Field, uint32(FieldTid)), []int64{101}, 0, nil},
	{"field none", nil, opA(opcode.Field, uint32(NumFields)), nil, outcome.TrapOp, nil},
	{"text none", nil, opA(opcode.Text, uint32(NumTextFields)), nil, outcome.TrapOp, nil},
	{"skip refused", []int64{1}, op(opcode.Skip), nil, outcome.TrapOp, nil},
	{"signal refused", []int64{1}, op(opcode.Signal), nil, outcome.TrapOp, nil},
	{"this without a call", nil, opA(opcode.PushThis, 0), nil, outcome.TrapThis, nil},
	{"gv none", nil, opV(opcode.PushGV, 4), nil, outcome.TrapIndex, nil},
	{"agg none", []int64{1}, opV(opcode.Agg, 64<<10), nil, outcome.TrapIndex, nil},
	{"text that is none", []int64{-1}, op(opcode.Slen), nil, outcome.TrapText, nil},
	{"text of a place that is not so long", []int64{-1<<63 | 5<<32 | int64(TextFunc)}, op(opcode.Slen), nil, outcome.TrapText, nil},
	{"text that no place has", []int64{-1<<63 | 4<<32 | int64(TextComm)}, op(opcode.Slen), nil, outcome.TrapText, nil},
	{"text that nothing has", []int64{-1<<63 | 4<<32 | 77}, op(opcode.Slen), nil, outcome.TrapText, nil},
	{"text of a place", []int64{-1<<63 | 4<<32 | int64(TextFunc)}, op(opcode.Slen), []int64{4}, 0, nil},
	{"text out of the scratch", []int64{1<<62 | 5<<32}, op(opcode.Slen), nil, outcome.TrapText, nil},
}

func TestOperations(t *testing.T) {
	for _, c := range append(simpleCases, targetCases...) {
		t.Run(c.name, func(t *testing.T) { c.check(t) })
	}
}

// check also compares the depth of the stack: what the case wants is all there is.
func (c *opCase) check(t *testing.T) {
	b := newBench(t)
	var list []Inst
	for _, v := range c.in {
		list = append(list, push(v))
	}
	list = append(list, c.inst)
	if c.trap != outcome.NoTrap {
		out := b.run(&Code{Insts: append(list, op(opcode.Exit)), Texts: c.texts})
		if out.Trap != c.trap || out.PC != uint32(len(c.in)) {
			t.Fatalf("trap %v at %d, want %v at %d", out.Trap, out.PC, c.trap, len(c.in))
		}
		return
	}
	list = append(list, op(opcode.Depth))
	got, out := b.eval(Code{Insts: list, Texts: c.texts}, len(c.want)+1)
	if out.Trap != outcome.NoTrap {
		t.Fatalf("trap %v at %d", out.Trap, out.PC)
	}
	want := words(append(slices.Clone(c.want), int64(len(c.want)))...)
	if !slices.Equal(got, want) {
		t.Fatalf("stack %x, want %x", got, want)
	}
	if steps := uint32(len(list) + len(want) + 1); out.Steps != steps {
		t.Fatalf("%d steps, want %d", out.Steps, steps)
	}
}

func TestJumps(t *testing.T) {
	for _, c := range []struct {
		op         opcode.Op
		taken, not []int64
	}{
		{opcode.Jz, []int64{0}, []int64{1, minInt}},
		{opcode.Jnz, []int64{1, minInt}, []int64{0}},
		{opcode.Jlt, []int64{-1, minInt}, []int64{0, 1}},
		{opcode.Jle, []int64{-1, 0}, []int64{1}},
		{opcode.Jgt, []int64{1, maxInt}, []int64{0, -1}},
		{opcode.Jge, []int64{0, 1}, []int64{-1}},
	} {
		b := newBench(t)
		try := func(v int64, want uint64) {
			got, out := b.eval(Code{Insts: seq(push(v), opA(c.op, 4), push(1), opA(opcode.Jmp, 5), push(2))}, 1)
			if out.Trap != outcome.NoTrap || got[0] != want {
				t.Errorf("op %d of %d: %d, %v", c.op, v, got[0], out.Trap)
			}
		}
		for _, v := range c.taken {
			try(v, 2)
		}
		for _, v := range c.not {
			try(v, 1)
		}
	}
}

func TestLoopAndCalls(t *testing.T) {
	b := newBench(t)
	// 5 rounds of t0 += 3, by a routine.
	got, out := b.eval(Code{Insts: seq(
		push(5), opA(opcode.Call, 5), opA(opcode.Loop, 1), opA(opcode.PushTV, 0), opA(opcode.Jmp, 10),
		opA(opcode.PushTV, 0), push(3), op(opcode.Add), opA(opcode.PopTV, 0), op(opcode.Ret), op(opcode.Nop))}, 1)
	if out.Trap != outcome.NoTrap || got[0] != 15 {
		t.Fatalf("%v %v", got, out.Trap)
	}
	for _, c := range []struct {
		name string
		list []Inst
		want outcome.Trap
		pc   uint32
	}{
		{"recursion without end", seq(opA(opcode.Call, 0)), outcome.TrapCalls, 0},
		{"ret without call", seq(op(opcode.Ret)), outcome.TrapCalls, 0},
		{"no exit", seq(op(opcode.Nop)), outcome.TrapOp, 1},
		{"jump out", seq(opA(opcode.Jmp, 7)), outcome.TrapOp, 7},
		{"for ever", seq(opA(opcode.Jmp, 0)), outcome.TrapFuel, 0},
		{"pushes for ever", seq(push(1), opA(opcode.Jmp, 0)), outcome.TrapStack, 0},
		{"empty", nil, outcome.TrapOp, 0},
	} {
		out := b.run(&Code{Insts: c.list})
		if out.Trap != c.want || out.PC != c.pc {
			t.Errorf("%s: %v at %d, want %v at %d", c.name, out.Trap, out.PC, c.want, c.pc)
		}
	}
}

func TestFuel(t *testing.T) {
	b := newBench(t)
	for _, fuel := range []uint32{0, 1, 17, MaxFuel, math.MaxUint32} {
		want := fuel
		switch {
		case fuel == 0:
			want = DefaultFuel
		case fuel > MaxFuel:
			want = MaxFuel
		}
		out := b.run(&Code{Fuel: fuel, Insts: seq(opA(opcode.Jmp, 0))})
		if out.Trap != outcome.TrapFuel || out.Steps != want {
			t.Errorf("fuel %d: %d steps, %v", fuel, out.Steps, out.Trap)
		}
	}
	if out := b.run(&Code{Fuel: 2, Insts: seq(op(opcode.Nop), op(opcode.Exit))}); out.Trap != outcome.NoTrap || out.Steps != 2 {
		t.Errorf("a program of exactly its fuel: %v", out)
	}
}

func TestEnds(t *testing.T) {
	b := newBench(t)
	item := seq(op(opcode.Item), op(opcode.EndItem))
	run := func(tail ...Inst) outcome.Outcome { return b.run(&Code{Insts: append(slices.Clone(item), tail...)}) }
	if out := run(opA(opcode.Exit, uint32(outcome.ExitHold))); out.Kind != outcome.ExitHold || !b.hit.HasEvent() || !b.hit.HasItems() {
		t.Errorf("hold: %+v", out)
	}
	if out := run(op(opcode.Exit)); out.Kind != outcome.ExitPlain || b.hit.HasEvent() || !b.hit.HasItems() {
		t.Errorf("plain exit: %+v", out)
	}
	if out := run(Inst{Op: opcode.Exit, A: uint32(outcome.ExitFacility), V: 9}); out.Kind != outcome.ExitFacility || out.Facility != 9 || b.hit.HasEvent() {
		t.Errorf("facility: %+v", out)
	}
	if out := run(opA(opcode.Exit, uint32(outcome.ExitFacility)+1)); out.Trap != outcome.TrapOp {
		t.Errorf("no such exit: %+v", out)
	}
	if out := run(op(opcode.Abort)); !out.Abort || b.hit.HasItems() {
		t.Errorf("abort: %+v", out)
	}
	if out := run(op(opcode.Remove)); !out.Remove || !b.hit.HasItems() {
		t.Errorf("remove: %+v", out)
	}
	if out := run(op(opcode.Item), op(opcode.Ret)); out.Trap != outcome.TrapCalls || b.hit.Len() != record.ItemHeader {
		t.Errorf("a trap keeps complete items only: %+v, %d bytes", out, b.hit.Len())
	}
}

// TestAbortKeepsOthers: an abort takes back what its own program logged, not what another did
// at the same place before.
func TestAbortKeepsOthers(t *testing.T) {
	b := newBench(t)
	b.run(&Code{Insts: seq(op(opcode.Item), op(opcode.EndItem), opA(opcode.Exit, uint32(outcome.ExitEvent)))})
	b.m.Run(&Code{Insts: seq(op(opcode.Item), op(opcode.EndItem), op(opcode.Abort))}, &b.ctx, &b.hit)
	if b.hit.Len() != record.ItemHeader || !b.hit.HasEvent() {
		t.Fatalf("%d bytes", b.hit.Len())
	}
}

func TestUnsafe(t *testing.T) {
	b := newBench(t)
	out := b.run(&Code{Unsafe: true, Insts: seq(
		push(0xab), opV(opcode.PopR, 0<<16|8<<8|8),
		push(0x1000), push('J'), op(opcode.Store8), push(0x1100), push(-2), op(opcode.Store64),
		push(77), op(opcode.SetRet), push(5), op(opcode.Skip), push(10), op(opcode.Signal), op(opcode.Exit))})
	if out.Trap != outcome.NoTrap || !out.Skip || out.SkipRet != 5 || out.Signal != 10 || !b.ctx.Dirty {
		t.Fatalf("%+v", out)
	}
	if b.ctx.Regs[0] != 0x112233445566ab88 || b.thread.memory[0] != 'J' || b.thread.memory[0x107] != 0xff || b.thread.ret != 77 {
		t.Fatalf("%x %v", b.ctx.Regs, b.thread.memory[:2])
	}
	b.ctx.Word = 4
	copy(b.thread.memory[0x10:], "\xff\xff\xff\xff\xff\xff\xff\xff")
	b.run(&Code{Unsafe: true, Insts: seq(push(0x1010), push(0x44434241), op(opcode.StorePtr), op(opcode.Exit))})
	if got := string(b.thread.memory[0x10:0x18]); got != "ABCD\xff\xff\xff\xff" {
		t.Errorf("a pointer of 4 bytes is stored as %q", got)
	}
	for _, c := range []struct {
		want outcome.Trap
		list []Inst
	}{
		{outcome.TrapWrite, seq(push(0), push(1), op(opcode.StorePtr))},
		{outcome.TrapWrite, seq(push(0), push(1), op(opcode.Store32))},
		{outcome.TrapRegister, seq(push(0), opV(opcode.PopR, 99<<16))},
		{outcome.TrapIndex, seq(push(65), op(opcode.Signal))},
		{outcome.TrapIndex, seq(push(0), op(opcode.Signal))},
	} {
		if out := b.run(&Code{Unsafe: true, Insts: c.list}); out.Trap != c.want {
			t.Errorf("%v, want %v", out.Trap, c.want)
		}
	}
}

func TestPointerOf32Bits(t *testing.T) {
	b := newBench(t)
	b.ctx.Word = 4
	got, _ := b.eval(Code{Insts: seq(push(0x1010), op(opcode.LoadPtr))}, 1)
	if got[0] != 0xccddeeff {
		t.Fatalf("%x", got[0])
	}
}

// TestCircular: with a circular stack the words below the lowest are the highest, and nothing traps.
func TestCircular(t *testing.T) {
	b := newBench(t)
	var list []Inst
	for i := range 40 {
		list = append(list, push(int64(i)))
	}
	got, out := b.eval(Code{Wrap: true, Insts: list}, 64)
	if out.Trap != outcome.NoTrap {
		t.Fatal(out.Trap)
	}
	for i, v := range got { // 64 pops go twice round the 32 words, which hold 8…39
		if want := uint64(8 + i%32); v != want {
			t.Fatalf("word %d is %d, want %d", i, v, want)
		}
	}
	out = b.run(&Code{Wrap: true, Insts: seq(op(opcode.Add), opA(opcode.Drop, 20), op(opcode.Xchg), opA(opcode.DupN, 30), opA(opcode.Pick, 30), op(opcode.Exit))})
	if out.Trap != outcome.NoTrap {
		t.Fatalf("%v at %d", out.Trap, out.PC)
	}
	if out := b.run(&Code{Wrap: true, Insts: seq(opA(opcode.Drop, 33))}); out.Trap != outcome.TrapStack {
		t.Fatalf("more words than there are: %v", out.Trap)
	}
}

// TestNoAllocation runs one program with nearly all there is.
func TestNoAllocation(t *testing.T) {
	b := newBench(t)
	id, keyed := b.declare(t, object.Object{Kind: object.KindHist, Keys: 2})
	b.refine(t, id, value.KindAny, value.KindText, value.KindStack)
	id, mapped := b.declare(t, object.Object{Kind: object.KindMap, Keys: 1, Max: 4, Full: object.FullEvict})
	b.refine(t, id, value.KindText, value.KindInt)
	_, gv := b.declare(t, object.Object{Kind: object.KindInt})
	_, pt := b.declare(t, object.Object{Kind: object.KindPerThread, Init: 3})
	_, avg := b.declare(t, object.Object{Kind: object.KindAvg})
	prog := b.a.Register(record.Program{Formats: []record.Format{{}}})
	c := &Code{ID: prog, Texts: []string{"key"}, Temps: 4, Insts: seq(
		opA(opcode.PushS, 0), push(0x1000), push(5), op(opcode.Str), op(opcode.Scat), opA(opcode.KeyText, uint32(value.KindText)),
		push(3), op(opcode.Stack), opA(opcode.KeyText, uint32(value.KindStack)), push(9), opV(opcode.Agg, keyed),
		opV(opcode.FetchAddGV, 0), op(opcode.KeyInt), opA(opcode.Text, 0), opV(opcode.MapSetS, mapped),
		push(1), op(opcode.KeyInt), opV(opcode.MapGetS, mapped), op(opcode.Hash), opV(opcode.AddPT, pt), push(4), opV(opcode.Agg, avg),
		push(5), op(opcode.Itof), op(opcode.Sfloat), op(opcode.Item), op(opcode.LogText), op(opcode.EndItem),
		opA(opcode.Exit, uint32(outcome.ExitEvent)))}
	c.Insts[11] = push(1)
	c.Insts = append(c.Insts[:11:11], append(seq(push(1), opV(opcode.FetchAddGV, gv)), c.Insts[12:]...)...)
	if n := testing.AllocsPerRun(200, func() {
		if out := b.run(c); out.Trap != outcome.NoTrap {
			t.Fatalf("%v at %d", out.Trap, out.PC)
		}
		b.a.Commit(record.Header{}, &b.hit)
		b.a.Trapped(outcome.TrapRead, 1, 2, 3)
		b.a.DropThread(5)
	}); n != 0 {
		t.Fatalf("%v allocations", n)
	}
	if len(b.a.Handle(1).Entries().Entries) != 4 {
		t.Fatal("the map did not fill")
	}
}
