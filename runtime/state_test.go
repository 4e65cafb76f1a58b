package runtime

import (
	"slices"
	"strings"
	"testing"

	"gotap/runtime/arena"
	"gotap/runtime/key"
	"gotap/runtime/object"
	"gotap/runtime/opcode"
	"gotap/runtime/outcome"
	"gotap/runtime/snapshot"
	"gotap/runtime/value"
)

// TestVariables does every operation on variables, arrays, storage of calls and per-thread variables.
func TestVariables(t *testing.T) {
	b := newBench(t)
	_, gv := b.declare(t, object.Object{Kind: object.KindInt, Init: 10})
	_, lv := b.declare(t, object.Object{Kind: object.KindArray, Size: 3})
	_, pt := b.declare(t, object.Object{Kind: object.KindPerThread, Init: 100})
	b.ctx.This = b.a.AllocThis(16)
	for _, c := range []opCase{
		{"push gv", nil, opV(opcode.PushGV, gv), []int64{10}, 0, nil},
		{"xadd gv", []int64{5}, opV(opcode.FetchAddGV, gv), []int64{10}, 0, nil},
		{"pop gv", []int64{7}, opV(opcode.PopGV, gv), nil, 0, nil},
		{"add gv", []int64{-9}, opV(opcode.AddGV, gv), nil, 0, nil},
		{"inc gv", nil, opV(opcode.IncGV, gv), nil, 0, nil},
		{"dec gv", nil, opV(opcode.DecGV, gv), nil, 0, nil},
		{"push gv then", nil, opV(opcode.PushGV, gv), []int64{-2}, 0, nil},
		{"pop lv", []int64{6, 2}, opV(opcode.PopLV, lv), nil, 0, nil},
		{"add lv", []int64{-1, 2}, opV(opcode.AddLV, lv), nil, 0, nil},
		{"push lv", []int64{2}, opV(opcode.PushLV, lv), []int64{5}, 0, nil},
		{"push lv beyond", []int64{3}, opV(opcode.PushLV, lv), nil, outcome.TrapIndex, nil},
		{"push lv below", []int64{-1}, opV(opcode.PushLV, lv), nil, outcome.TrapIndex, nil},
		{"lv of a gv", []int64{0}, opV(opcode.PushLV, gv), nil, outcome.TrapIndex, nil},
		{"push pt first", nil, opV(opcode.PushPT, pt), []int64{100}, 0, nil},
		{"add pt", []int64{5}, opV(opcode.AddPT, pt), nil, 0, nil},
		{"push pt", nil, opV(opcode.PushPT, pt), []int64{105}, 0, nil},
		{"pop pt", []int64{1}, opV(opcode.PopPT, pt), nil, 0, nil},
		{"pop this", []int64{8}, opA(opcode.PopThis, 1), nil, 0, nil},
		{"push this", nil, opA(opcode.PushThis, 1), []int64{8}, 0, nil},
		{"push this beyond", nil, opA(opcode.PushThis, arena.MaxThisBytes/8), nil, outcome.TrapIndex, nil},
		{"push this text unaligned", nil, opA(opcode.PushThisS, 4), nil, outcome.TrapIndex, nil},
		{"agg of a gv", []int64{1}, opV(opcode.Agg, gv), nil, outcome.TrapIndex, nil},
		{"map get of a gv", nil, opV(opcode.MapGet, gv), nil, outcome.TrapIndex, nil},
	} {
		c.on(t, b)
	}
	b.ctx.Tid = 55
	(&opCase{"another thread", nil, opV(opcode.PushPT, pt), []int64{100}, 0, nil}).on(t, b)
	b.ctx.Tid = 101
	b.a.DropThread(101)
	(&opCase{"a thread that ended", nil, opV(opcode.PushPT, pt), []int64{100}, 0, nil}).on(t, b)
}

// on runs the case on a machine that keeps what earlier cases did.
func (c *opCase) on(t *testing.T, b *bench) {
	t.Helper()
	var list []Inst
	for _, v := range c.in {
		list = append(list, push(v))
	}
	got, out := b.eval(Code{Insts: append(list, c.inst)}, len(c.want))
	if out.Trap != c.trap || c.trap == outcome.NoTrap && !slices.Equal(got, words(c.want...)) {
		t.Errorf("%s: %d, %v; want %d, %v", c.name, got, out.Trap, c.want, c.trap)
	}
}

// TestMaps does every operation on maps of numbers and of texts.
func TestMaps(t *testing.T) {
	b := newBench(t)
	id, m := b.declare(t, object.Object{Kind: object.KindMap, Keys: 2})
	b.refine(t, id, value.KindInt, value.KindInt, value.KindText)
	key := seq(push(4), op(opcode.KeyInt), opA(opcode.PushS, 0), opA(opcode.KeyText, uint32(value.KindText)))
	try := func(name string, want int64, list ...Inst) {
		t.Helper()
		got, out := b.eval(Code{Insts: list, Texts: []string{"k"}}, 1)
		if out.Trap != outcome.NoTrap || got[0] != uint64(want) {
			t.Errorf("%s: %v, %v", name, got, out.Trap)
		}
	}
	with := func(list ...Inst) []Inst { return append(slices.Clone(key), list...) }
	try("get none", 0, with(opV(opcode.MapGet, m))...)
	try("has none", 0, with(opV(opcode.MapHas, m))...)
	try("add new", 3, with(push(3), opV(opcode.MapAdd, m))...)
	try("add", 5, with(push(2), opV(opcode.MapAdd, m))...)
	try("has", 1, with(opV(opcode.MapHas, m))...)
	try("get", 5, with(opV(opcode.MapGet, m))...)
	try("set", 9, append(with(push(9), opV(opcode.MapSet, m)), with(opV(opcode.MapGet, m))...)...)
	try("delete", 0, append(with(opV(opcode.MapDel, m)), with(opV(opcode.MapHas, m))...)...)
	for name, list := range map[string][]Inst{
		"no key":           seq(opV(opcode.MapGet, m)),
		"too short":        seq(push(1), op(opcode.KeyInt), opV(opcode.MapGet, m)),
		"other parts":      seq(push(1), op(opcode.KeyInt), push(1), op(opcode.KeyInt), opV(opcode.MapGet, m)),
		"one part more":    with(push(1), op(opcode.KeyInt), opV(opcode.MapGet, m)),
		"not a kind":       seq(push(0), opA(opcode.KeyText, 77), opV(opcode.MapGet, m)),
		"text from number": with(opV(opcode.MapGetS, m)),
	} {
		if out := b.run(&Code{Insts: append(list, op(opcode.Exit)), Texts: []string{"k"}}); out.Trap == outcome.NoTrap {
			t.Errorf("%s: no trap", name)
		}
	}
}

func TestMapOfTexts(t *testing.T) {
	b := newBench(t)
	id, m := b.declare(t, object.Object{Kind: object.KindMap, Keys: -1})
	get := seq(push(4), op(opcode.KeyInt), opV(opcode.MapGetS, m))
	if v, out := textOf(t, b, Code{Insts: get}); out.Trap != outcome.NoTrap || v.Text != "" {
		t.Errorf("before anything is known: %v %v", v, out.Trap)
	}
	b.refine(t, id, value.KindAny, value.KindInt)
	b.refine(t, id, value.KindText, value.KindInt)
	long := strings.Repeat("z", 300)
	set := append(seq(push(4), op(opcode.KeyInt), opA(opcode.PushS, 0), opV(opcode.MapSetS, m)), get...)
	if v, out := textOf(t, b, Code{Insts: set, Texts: []string{long}}); out.Trap != outcome.NoTrap || v.Text != long[:256] || !v.Cut {
		t.Errorf("%v %v", v, out.Trap)
	}
	if d, ok := b.a.Handle(id).Get(value.Int(4)); !ok || d.Text != long[:256] || !d.Cut || printed(b.a.Handle(id)) != "@[4]: "+long[:256]+"..\n" {
		t.Errorf("%+v", d)
	}
}

// TestLongKeys: texts are cut to DefaultText and marked, too many parts trap, and cut keys are
// found as they print.
func TestLongKeys(t *testing.T) {
	b := newBench(t)
	id, off := b.declare(t, object.Object{Name: "c", Kind: object.KindCount, Keys: 1})
	b.refine(t, id, value.KindAny, value.KindText)
	add := func(n int64) outcome.Trap {
		return b.run(&Code{Insts: seq(push(0x1040), push(n), op(opcode.Str), opA(opcode.KeyText, uint32(value.KindText)), push(1), opV(opcode.Agg, off), op(opcode.Exit))}).Trap
	}
	letters := string(b.thread.memory[64:])
	if add(300) != outcome.NoTrap || add(256) != outcome.NoTrap || add(8) != outcome.NoTrap {
		t.Fatal("trap")
	}
	for key, want := range map[string]int64{letters[:256] + "..": 2, letters[:8] + "..": 1, letters[:8]: 0} {
		if d, _ := b.a.Handle(id).Get(value.Text(key)); d.Int != want {
			t.Errorf("%q: %d, want %d", key, d.Int, want)
		}
	}
	var parts []Inst
	for range key.MaxParts + 1 {
		parts = append(parts, push(1), op(opcode.KeyInt))
	}
	if out := b.run(&Code{Insts: parts}); out.Trap != outcome.TrapKey {
		t.Errorf("too many parts: %v", out.Trap)
	}
	parts = nil
	for range 10 {
		parts = append(parts, push(0x1040), push(256), op(opcode.Bytes), opA(opcode.KeyText, uint32(value.KindBytes)))
	}
	if out := b.run(&Code{Insts: parts}); out.Trap != outcome.TrapKey {
		t.Errorf("too long: %v", out.Trap)
	}
}

// TestKeyIsUsedUp: what uses a key empties it, and each run begins without one.
func TestKeyIsUsedUp(t *testing.T) {
	b := newBench(t)
	id, off := b.declare(t, object.Object{Kind: object.KindCount})
	b.refine(t, id, value.KindAny)
	bad := seq(push(1), op(opcode.KeyInt), push(1), opV(opcode.Agg, off))
	if out := b.run(&Code{Insts: bad}); out.Trap != outcome.TrapKey {
		t.Errorf("a key for an object without: %v", out.Trap)
	}
	if out := b.run(&Code{Insts: seq(push(1), opV(opcode.Agg, off), op(opcode.Exit))}); out.Trap != outcome.NoTrap {
		t.Errorf("the key of the run before: %v", out.Trap)
	}
}

// TestTextKeptBusy: a thread that died while it replaced a text leaves the version odd. Whoever comes later gives up,
// says so, and is counted; the text itself stays as it was.
func TestTextKeptBusy(t *testing.T) {
	b := newBench(t)
	id, at := b.declare(t, object.Object{Name: "s", Kind: object.KindText, Text: "old"})
	h, cell := b.a.Handle(id), b.memory[b.memory[at/8+2]/8:] // word 2 of a descriptor is the offset of the cell
	busy := func(step string, want uint64, do func()) {
		t.Helper()
		cell[0]++
		do()
		cell[0]++
		if got := b.a.Lost()["text s contended"]; got != want {
			t.Errorf("%s: %d are counted, want %d", step, got, want)
		}
		if d, _ := h.Get(); d.Text != "old" {
			t.Errorf("%s: the text is %q", step, d.Text)
		}
	}
	busy("set by the host", 1, func() {
		if err := h.Set(value.Text("new")); err == nil || !strings.Contains(err.Error(), "other threads keep it busy") {
			t.Errorf("set: %v", err)
		}
	})
	busy("read by the host", 2, func() {
		if d, _ := h.Get(); d.Text != "" {
			t.Errorf("read %q", d.Text)
		}
	})
	busy("set by a program", 3, func() {
		b.run(&Code{Insts: seq(opA(opcode.PushS, 0), opV(opcode.PopGVS, at), op(opcode.Exit)), Texts: []string{"new"}})
	})
	busy("read by a program", 4, func() {
		if got, out := b.eval(Code{Insts: seq(opV(opcode.PushGVS, at), op(opcode.Slen))}, 1); out.Trap != outcome.NoTrap || got[0] != 0 {
			t.Errorf("read %v, %v", got, out.Trap)
		}
	})
}

// TestSeriesOfProgram runs the operation of a program: the machine puts the interval of the hit in front of the key.
func TestSeriesOfProgram(t *testing.T) {
	b := newBench(t)
	id, off := b.declare(t, object.Object{Kind: object.KindSeries, Of: object.KindSum, Step: 1e9, Size: 5, Keys: -1, Full: object.FullEvict})
	if err := b.a.RefineUse(id, []value.Kind{value.KindInt}, value.KindAny); err != nil {
		t.Fatal(err)
	}
	code := Code{Insts: []Inst{push(42), op(opcode.KeyInt), push(7), opV(opcode.Agg, off), op(opcode.Exit)}}
	for _, at := range []uint64{3e9, 3_999_999_999, 5e9} {
		b.thread.fields[FieldTime] = at
		if out := b.run(&code); out.Trap != outcome.NoTrap {
			t.Fatalf("%v", out)
		}
	}
	e := b.a.Handle(id).Entries().Series().Entries
	if len(e) != 1 || e[0].Key[0].Int != 42 || len(e[0].Data.Points) != 3 || e[0].Data.Points[0].Value != 14 || e[0].Data.Points[2].Value != 7 {
		t.Errorf("%+v", e)
	}
}

// printed is what the content of an object prints.
func printed(h *arena.Handle) string {
	var b strings.Builder
	h.Entries().Print(&b, snapshot.Options{})
	return b.String()
}
