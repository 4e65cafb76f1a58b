package native

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"gotap/runtime"
	"gotap/runtime/arena"
	"gotap/runtime/object"
	"gotap/runtime/opcode"
	"gotap/runtime/outcome"
	"gotap/runtime/value"
)

func push(v int64) runtime.Inst              { return runtime.Inst{Op: opcode.PushD, V: uint64(v)} }
func op(o opcode.Op) runtime.Inst            { return runtime.Inst{Op: o} }
func opA(o opcode.Op, a uint32) runtime.Inst { return runtime.Inst{Op: o, A: a} }
func opV(o opcode.Op, v uint64) runtime.Inst { return runtime.Inst{Op: o, V: v} }

var exit = op(opcode.Exit)

// features are those of an architecture with two arguments in registers, and registers below 4.
var features = Features{Args: 2, Register: func(operand uint64) bool { return operand>>16 < 4 }}

// objects is an arena with an object of each kind that programs below use.
type objects struct {
	*arena.Arena
	number, array, text, count, series, open, keyed, pairs, texts uint64
}

func newObjects(t testing.TB) *objects {
	t.Helper()
	a, err := arena.NewOn(make([]uint64, 4<<20/8), 64<<10)
	if err != nil {
		t.Fatal(err)
	}
	declare := func(o object.Object, v value.Kind, keys ...value.Kind) uint64 {
		id, err := a.Declare(o)
		if err == nil && len(keys) > 0 {
			err = a.Refine(id, keys, v)
		}
		if err != nil {
			t.Fatal(err)
		}
		_, off := a.Lookup(id)
		return off
	}
	const number = value.KindInt
	return &objects{a, declare(object.Object{}, 0), declare(object.Object{Kind: object.KindArray, Size: 4}, 0), declare(object.Object{Kind: object.KindText}, 0),
		declare(object.Object{Kind: object.KindCount}, 0), declare(object.Object{Kind: object.KindSeries, Of: object.KindSum, Keys: 1, Size: 2, Step: 1e9, Full: object.FullEvict}, 0),
		declare(object.Object{Kind: object.KindMap, Keys: -1}, 0), declare(object.Object{Kind: object.KindCount, Keys: 1}, 0, number),
		declare(object.Object{Kind: object.KindMap, Keys: 2}, number, number, number), declare(object.Object{Kind: object.KindMap, Keys: 1, Max: 5}, value.KindText, number)}
}

// TestVerdicts: of each program, the given operation rings for the given reason, or is native.
func TestVerdicts(t *testing.T) {
	o := newObjects(t)
	key := op(opcode.KeyInt)
	for _, c := range []struct {
		name string
		at   int
		why  string
		list []runtime.Inst
	}{
		{"arithmetic", 2, "", []runtime.Inst{push(1), push(2), op(opcode.Add), opA(opcode.Drop, 1), exit}},
		{"an item", 1, "item is left to the interpreter", []runtime.Inst{push(1), op(opcode.Item), op(opcode.LogInt), op(opcode.EndItem), exit}},
		{"behind an item", 2, "unreached", []runtime.Inst{push(1), op(opcode.Item), op(opcode.LogInt), op(opcode.EndItem), exit}},
		{"floats", 1, "fneg is left", []runtime.Inst{push(1), op(opcode.Fneg), exit}},
		{"memory", 1, "push mem,u8 is left", []runtime.Inst{push(1), op(opcode.Load8), exit}},
		{"a call", 0, "call is left", []runtime.Inst{opA(opcode.Call, 2), exit, op(opcode.Ret)}},
		{"a handler", 0, "sx is left", []runtime.Inst{opA(opcode.SetX, 1), exit}},
		{"remove", 0, "remove is left", []runtime.Inst{op(opcode.Remove)}},
		{"exit", 0, "", []runtime.Inst{exit}},
		{"an event", 0, "", []runtime.Inst{opA(opcode.Exit, uint32(outcome.ExitEvent))}},
		{"a store", 2, "pop mem,u8 changes the target", []runtime.Inst{push(1), push(2), op(opcode.Store8), exit}},
		{"a store of text", 2, "pop mem,str changes the target", []runtime.Inst{push(1), push(2), op(opcode.StoreStr), exit}},
		{"a new value of a register", 1, "pop r changes the target", []runtime.Inst{push(1), opV(opcode.PopR, 3<<16), exit}},
		{"a new result", 1, "pop ret changes the target", []runtime.Inst{push(1), op(opcode.SetRet), exit}},
		{"a skip", 1, "skip changes the target", []runtime.Inst{push(1), op(opcode.Skip), exit}},
		{"a signal", 1, "signal changes the target", []runtime.Inst{push(1), op(opcode.Signal), exit}},
		{"hold", 0, "exit.hold keeps", []runtime.Inst{opA(opcode.Exit, uint32(outcome.ExitHold))}},
		{"an impossible exit", 0, "exit is left", []runtime.Inst{opA(opcode.Exit, 256)}},
		{"an argument", 0, "", []runtime.Inst{opA(opcode.Arg, 1), exit}},
		{"an argument on the stack", 0, "argument 2 is not in a register", []runtime.Inst{opA(opcode.Arg, 2), exit}},
		{"a register", 0, "", []runtime.Inst{opV(opcode.PushR, 3<<16), exit}},
		{"another register", 0, "not among those", []runtime.Inst{opV(opcode.PushR, 4<<16), exit}},
		{"the result", 0, "", []runtime.Inst{op(opcode.Retval), exit}},
		{"pid", 0, "", []runtime.Inst{opA(opcode.Field, uint32(runtime.FieldPid)), exit}},
		{"a field that is none", 0, "no such field", []runtime.Inst{opA(opcode.Field, 256+uint32(runtime.FieldPid)), exit}},
		{"time", 0, "push c is left", []runtime.Inst{opA(opcode.Field, uint32(runtime.FieldTime)), exit}},
		{"a variable", 0, "", []runtime.Inst{opV(opcode.IncGV, o.number), exit}},
		{"no variable", 0, "of another kind", []runtime.Inst{opV(opcode.IncGV, o.array), exit}},
		{"no object", 0, "no storage", []runtime.Inst{opV(opcode.IncGV, 12), exit}},
		{"a text", 0, "push gvs is left", []runtime.Inst{opV(opcode.PushGVS, o.text), exit}},
		{"an element", 1, "", []runtime.Inst{push(1), opV(opcode.PushLV, o.array), exit}},
		{"a count", 1, "", []runtime.Inst{push(1), opV(opcode.Agg, o.count), exit}},
		{"a series", 1, "agg is left", []runtime.Inst{push(1), opV(opcode.Agg, o.series), exit}},
		{"a scratch word that cannot be", 1, "no such scratch word", []runtime.Inst{push(1), opA(opcode.PopTV, runtime.MaxTemps), exit}},
		{"an unknown operation", 0, "no such operation", []runtime.Inst{op(opcode.NumOps), exit}},
		{"an empty stack", 0, "too few words", []runtime.Inst{op(opcode.Add), exit}},
		{"a full stack", 1, "too little room", []runtime.Inst{push(1), opA(opcode.DupN, runtime.DefaultStack), exit}},
		{"a count that is too large", 1, "too large", []runtime.Inst{push(1), opA(opcode.DupN, 1<<20), exit}},
		{"a key", 1, "", []runtime.Inst{push(1), key, push(1), opV(opcode.Agg, o.keyed), exit}},
		{"the use of a key", 3, "", []runtime.Inst{push(1), key, push(1), opV(opcode.Agg, o.keyed), exit}},
		{"two parts", 4, "", []runtime.Inst{push(1), key, opA(opcode.Arg, 0), op(opcode.Neg), key, opV(opcode.MapGet, o.pairs), opA(opcode.Drop, 1), exit}},
		{"a part that divides", 1, "quo stands while", []runtime.Inst{push(1), key, push(1), opA(opcode.Arg, 0), op(opcode.Quo), key, opV(opcode.MapDel, o.pairs), exit}},
		{"a part that divides by 0", 1, "quo stands while", []runtime.Inst{push(1), key, push(1), push(0), op(opcode.Quo), key, opV(opcode.MapDel, o.pairs), exit}},
		{"a part that divides by a constant", 1, "", []runtime.Inst{push(1), key, push(1), push(2), op(opcode.Quo), key, opV(opcode.MapDel, o.pairs), exit}},
		{"a part that counts", 1, "inc gv stands while", []runtime.Inst{push(1), key, opV(opcode.IncGV, o.number), push(1), key, opV(opcode.MapDel, o.pairs), exit}},
		{"a part that is interpreted", 1, "push c is left", []runtime.Inst{push(1), key, opA(opcode.Field, uint32(runtime.FieldTid)), key, opV(opcode.MapDel, o.pairs), exit}},
		{"a part behind a label", 2, "control can arrive", []runtime.Inst{push(1), opA(opcode.Jmp, 2), key, push(1), key, opV(opcode.MapDel, o.pairs), opA(opcode.Jmp, 3)}},
		{"a text part", 1, "key s is left", []runtime.Inst{push(1), key, push(0), opA(opcode.KeyText, 1), opV(opcode.MapDel, o.pairs), exit}},
		{"too few parts", 1, "another form", []runtime.Inst{push(1), key, opV(opcode.MapDel, o.pairs), exit}},
		{"texts in a map", 1, "are of another kind", []runtime.Inst{push(1), key, opV(opcode.MapGet, o.texts), exit}},
		{"is there a text", 1, "", []runtime.Inst{push(1), key, opV(opcode.MapHas, o.texts), exit}},
		{"a text of a map", 1, "map gets is left", []runtime.Inst{push(1), key, opV(opcode.MapGetS, o.texts), exit}},
		{"a map as an aggregation", 1, "not an aggregation", []runtime.Inst{push(1), key, push(2), key, push(3), opV(opcode.Agg, o.pairs), exit}},
		{"a map of unknown form", 1, "no storage", []runtime.Inst{push(1), key, opV(opcode.MapHas, o.open), exit}},
		{"a key that nothing uses", 1, "not used", []runtime.Inst{push(1), key, push(1)}},
	} {
		p, err := PlanOf(&runtime.Code{Insts: c.list, Bounded: true}, o.Arena, features, Place{})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		got := &p.Ops[c.at]
		want := Doorbell
		switch c.why {
		case "":
			want = Native
		case "unreached":
			want, c.why = Unreached, ""
		}
		if got.Verdict != want || !strings.Contains(got.Why, c.why) {
			t.Errorf("%s: verdict %d, %q", c.name, got.Verdict, got.Why)
		}
	}
}

// TestFloats: what calculates with floats is native where the architecture can, except in programs that read registers
// which native code may have changed.
func TestFloats(t *testing.T) {
	o := newObjects(t)
	can := features
	can.Floats, can.FloatArgs = true, 1
	bell := func(f Features, list ...runtime.Inst) []uint32 {
		p, err := PlanOf(&runtime.Code{Insts: append(list, exit), Bounded: true}, o.Arena, f, Place{Reads: true})
		if err != nil {
			t.Fatal(err)
		}
		return p.Doorbells()
	}
	divide := []runtime.Inst{opA(opcode.Arg, 0), op(opcode.Itof), push(1), op(opcode.Fdiv), op(opcode.Ftoi), opV(opcode.AggFloat, o.count)}
	if got := bell(can, divide...); got != nil {
		t.Errorf("it rings at %d", got)
	}
	if got := bell(features, divide...); !slices.Equal(got, []uint32{1}) {
		t.Errorf("without floats it rings at %d", got)
	}
	if got := bell(can, append(divide, opV(opcode.PushR, (runtime.FloatWords+7)<<16))...); !slices.Equal(got, []uint32{1}) {
		t.Errorf("with another register of floats it rings at %d", got)
	}
	for _, in := range []runtime.Inst{opA(opcode.ArgF, 1), opA(opcode.ArgF, runtime.NoNumber), op(opcode.Frem), opA(opcode.Narrow, 2), opV(opcode.AggFloat, o.series)} {
		if got := bell(can, push(1), push(1), in); !slices.Equal(got, []uint32{2}) {
			t.Errorf("%s rings at %d", opcode.RowOf(in.Op).Name, got)
		}
	}
	key := []runtime.Inst{push(1), op(opcode.KeyInt), opA(opcode.ArgF, 0), push(1), op(opcode.Fadd), opV(opcode.AggFloat, o.keyed)}
	if got := bell(can, key...); got != nil {
		t.Errorf("with a key it rings at %d", got)
	}
	if got := bell(features, key...); !slices.Equal(got, []uint32{1}) {
		t.Errorf("without floats the key rings at %d", got)
	}
}

// TestRefusals: programs that cannot run natively, with the reasons.
func TestRefusals(t *testing.T) {
	o := newObjects(t)
	for why, c := range map[string]runtime.Code{
		"the program is empty":             {},
		"its stack is circular":            {Insts: []runtime.Inst{exit}, Wrap: true},
		"it runs past its end":             {Insts: []runtime.Inst{op(opcode.Nop)}},
		"it has more than 4096 operations": {Insts: append(slices.Repeat([]runtime.Inst{op(opcode.Nop)}, MaxOps), exit)},
		"exit (command 3): it is reached with 0 and with 1 words on the stack": {Insts: []runtime.Inst{push(1), opA(opcode.Jz, 3), push(1), exit}},
		"push tv (command 0): scratch word 3 is read before it is assigned":    {Insts: []runtime.Inst{opA(opcode.PushTV, 3), exit}},
		"push tv (command 5): scratch word 0 is read before it is assigned": {Insts: []runtime.Inst{opA(opcode.Arg, 0), opA(opcode.Jz, 5), push(1), opA(opcode.PopTV, 0),
			opA(opcode.Jmp, 5), opA(opcode.PushTV, 0), exit}},
		"dup (command 1): there are more than 64 words on the stack and in scratch words": {Insts: []runtime.Inst{push(1), opA(opcode.DupN, 70), exit}, Stack: 100},
	} {
		_, err := PlanOf(&c, o.Arena, features, Place{})
		if refused := (*Refused)(nil); !errors.As(err, &refused) || (err.Error() != why && !strings.HasSuffix(err.Error(), why)) {
			t.Errorf("%q, not %q", err, why)
		}
	}
}

// TestBlocks: where blocks begin, how deep the stack is, and how long blocks are.
func TestBlocks(t *testing.T) {
	o := newObjects(t)
	p, err := PlanOf(&runtime.Code{Bounded: true, Insts: []runtime.Inst{
		push(3),              // 0
		opA(opcode.Arg, 0),   // 1: loop
		opA(opcode.Jz, 5),    // 2
		op(opcode.Nop),       // 3
		opA(opcode.Jmp, 6),   // 4
		op(opcode.Load8),     // 5: doorbell
		opA(opcode.Loop, 1),  // 6
		exit,                 // 7
		opA(opcode.Drop, 20), // 8: not reached
	}}, o.Arena, features, Place{})
	if err != nil {
		t.Fatal(err)
	}
	type block struct {
		pc, depth, length, steps int
		join                     bool
	}
	var got []block
	for pc := range p.Ops {
		if op := &p.Ops[pc]; op.Block {
			got = append(got, block{pc, op.Depth, op.Length, op.Steps, op.Join})
		}
	}
	want := []block{{0, 0, 1, 0, false}, {1, 1, 2, Varies, true}, {3, 1, 2, Varies, false}, {5, 1, 0, Varies, false}, {6, 1, 1, Varies, false}, {7, 0, 1, Varies, false}}
	if !slices.Equal(got, want) {
		t.Errorf("blocks %v\nand not %v", got, want)
	}
	if !p.Counted || p.Limited || p.MaxDepth != 2 || p.AlwaysRings() || !slices.Equal(p.Doorbells(), []uint32{5}) {
		t.Errorf("%+v", p)
	}
}

// TestSteps: steps are counted only where a doorbell needs a number that depends on the way, or where fuel may run out.
func TestSteps(t *testing.T) {
	o := newObjects(t)
	branch := []runtime.Inst{opA(opcode.Arg, 0), opA(opcode.Jz, 3), op(opcode.Nop)}
	back := []runtime.Inst{opA(opcode.Arg, 0), opA(opcode.Jnz, 0)}
	long := slices.Repeat([]runtime.Inst{op(opcode.Nop)}, 100)
	ring := []runtime.Inst{push(1), op(opcode.Load8), exit}
	for _, c := range []struct {
		name             string
		code             runtime.Code
		counted, limited bool
	}{
		{"straight", runtime.Code{Insts: ring}, false, false},
		{"ways of different length", runtime.Code{Insts: slices.Concat(branch, []runtime.Inst{exit})}, false, false},
		{"a doorbell behind them", runtime.Code{Insts: slices.Concat(branch, ring)}, true, false},
		{"a division behind them", runtime.Code{Insts: slices.Concat(branch, []runtime.Inst{push(1), push(2), op(opcode.Quo), exit})}, true, false},
		{"a loop", runtime.Code{Insts: slices.Concat(back, []runtime.Inst{exit})}, true, true},
		{"a loop with a bound", runtime.Code{Insts: slices.Concat(back, []runtime.Inst{exit}), Bounded: true}, false, false},
		{"a loop with a bound and a doorbell", runtime.Code{Insts: slices.Concat(back, ring), Bounded: true}, true, false},
		{"as much fuel as operations", runtime.Code{Insts: slices.Concat(long, []runtime.Inst{exit}), Fuel: 101}, false, false},
		{"less fuel than operations", runtime.Code{Insts: slices.Concat(long, []runtime.Inst{exit}), Fuel: 100}, true, true},
	} {
		p, err := PlanOf(&c.code, o.Arena, features, Place{})
		if err != nil || p.Counted != c.counted || p.Limited != c.limited {
			t.Errorf("%s: counted %v, limited %v; %v", c.name, p.Counted, p.Limited, err)
		}
	}
	if p, err := PlanOf(&runtime.Code{Insts: ring}, o.Arena, features, Place{}); err != nil || p.Ops[1].Steps != 1 || !p.AlwaysRings() {
		t.Errorf("the doorbell rings after %d steps; %v", p.Ops[1].Steps, err)
	}
}

// TestAssigned: which scratch words a doorbell can hand on.
func TestAssigned(t *testing.T) {
	o := newObjects(t)
	p, err := PlanOf(&runtime.Code{Bounded: true, Insts: []runtime.Inst{
		push(1), opA(opcode.PopTV, 50), opA(opcode.Arg, 0), opA(opcode.Jz, 6), // to 6
		push(1), opA(opcode.PopTV, 2), // one way only
		push(1), op(opcode.Load8), // 6
	}}, o.Arena, features, Place{})
	if err != nil || !p.Ops[6].Assigned.Has(50) || p.Ops[6].Assigned.Has(2) || p.Temps != 51 {
		t.Errorf("%v, %v", p, err)
	}
}

// TestSplit: a program that logs on one way only has a copy of what follows for each of its logs, and stops nowhere.
func TestSplit(t *testing.T) {
	o := newObjects(t)
	log := func(n int64) []runtime.Inst {
		return []runtime.Inst{opA(opcode.Item, 0), push(n), op(opcode.LogInt), op(opcode.EndItem)}
	}
	in := Place{Thread: true, Clock: true}
	for _, c := range []struct {
		name   string
		list   []runtime.Inst
		origin []uint32 // of each operation
		rings  string
	}{
		{"one way", slices.Concat([]runtime.Inst{opA(opcode.Arg, 0), opA(opcode.Jz, 6)}, log(1), []runtime.Inst{opV(opcode.IncGV, o.number), exit}),
			[]uint32{0, 1, 2, 3, 4, 5, 6, 7, 6, 7}, ""},
		{"two ways", slices.Concat([]runtime.Inst{opA(opcode.Arg, 0), opA(opcode.Jz, 7)}, log(1), []runtime.Inst{opA(opcode.Jmp, 12)}, log(2), log(3)[3:], []runtime.Inst{exit}),
			nil, "no item is open"},
		{"in a loop", slices.Concat([]runtime.Inst{push(3)}, log(1), []runtime.Inst{opA(opcode.Loop, 1), exit}), nil, "several forms"},
		{"a loop behind", slices.Concat([]runtime.Inst{opA(opcode.Arg, 0), opA(opcode.Jz, 6)}, log(1), []runtime.Inst{push(3), opV(opcode.IncGV, o.number), opA(opcode.Loop, 7), exit}),
			[]uint32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 6, 7, 8, 9}, ""},
	} {
		p, err := PlanOf(&runtime.Code{Bounded: true, Insts: c.list, LogMax: 128}, o.Arena, features, in)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		bells := p.Doorbells()
		if c.rings == "" && len(bells) > 0 || c.rings != "" && (len(bells) == 0 || !strings.Contains(p.Ops[bells[0]].Why, c.rings)) {
			t.Errorf("%s: rings at %v", c.name, bells)
		}
		for pc := range p.Insts {
			if in := c.list[p.Origin(pc)]; in.Op != p.Insts[pc].Op || in.V != p.Insts[pc].V {
				t.Errorf("%s: operation %d is no copy of %d", c.name, pc, p.Origin(pc))
			}
		}
		if c.origin != nil && !slices.Equal(p.origin, c.origin) {
			t.Errorf("%s: %v", c.name, p.origin)
		}
	}
}
