package native

import (
	"slices"
	"strings"
	"testing"

	"gotap/runtime"
	"gotap/runtime/object"
	"gotap/runtime/opcode"
	"gotap/runtime/value"
)

// TestTexts: texts that are known when code is made are keys, fields of records, and are compared, if they are pushed
// directly before.
func TestTexts(t *testing.T) {
	o := newObjects(t)
	name := func(f runtime.TextField) runtime.Inst { return opA(opcode.Text, uint32(f)) }
	constant := func(n uint32) runtime.Inst { return opA(opcode.PushS, n) }
	function, key, item := name(runtime.TextFunc), opA(opcode.KeyText, uint32(value.KindText)), opA(opcode.Item, 0)
	log, end, drop := op(opcode.LogText), op(opcode.EndItem), opA(opcode.Drop, 1)
	id, err := o.Declare(object.Object{Kind: object.KindMap, Keys: 1, Max: 5})
	if err == nil {
		err = o.Refine(id, []value.Kind{value.KindText}, value.KindInt)
	}
	if err != nil {
		t.Fatal(err)
	}
	_, offset := o.Lookup(id)
	has := opV(opcode.MapHas, offset)
	at := Place{Names: &Names{Func: "malloc", Module: "/lib/libc.so.6", Probe: strings.Repeat("p", 300)}, Thread: true, Clock: true}
	for _, c := range []struct {
		name string
		at   Place
		why  string // of the first doorbell; "" if there is none
		list []runtime.Inst
	}{
		{"a key", at, "", []runtime.Inst{function, key, has, drop, exit}},
		{"a constant key", at, "", []runtime.Inst{constant(0), key, has, drop, exit}},
		{"a key of another form", at, "another form", []runtime.Inst{function, key, function, key, has, drop, exit}},
		{"a stack", at, "key s is left", []runtime.Inst{function, opA(opcode.KeyText, uint32(value.KindStack)), has, drop, exit}},
		{"bits above the kind", at, "key s is left", []runtime.Inst{function, opA(opcode.KeyText, 0x100+uint32(value.KindText)), has, drop, exit}},
		{"keys of many words", at, "too long", []runtime.Inst{name(runtime.TextProbe), key, name(runtime.TextProbe), key, has, drop, exit}},
		{"a place of no name", Place{}, "push cs is left", []runtime.Inst{function, key, has, drop, exit}},
		{"the thread's name", at, "push cs is left", []runtime.Inst{name(runtime.TextComm), key, has, drop, exit}},
		{"a text of no field", at, "push cs is left", []runtime.Inst{name(runtime.NumTextFields), drop, exit}},
		{"a field of more bits", at, "push cs is left", []runtime.Inst{opA(opcode.Text, 256+uint32(runtime.TextFunc)), drop, exit}},
		{"no such constant", at, "no constant text of this number", []runtime.Inst{constant(2), drop, exit}},
		{"a record", at, "", []runtime.Inst{item, function, log, constant(0), log, end, exit}},
		{"a record that is too long", at, "the log is too long", []runtime.Inst{item, name(runtime.TextProbe), log, end, exit}},
		{"a record beside many scratch words", at, "the log is too long", slices.Concat([]runtime.Inst{push(1), opA(opcode.PopTV, 60), item}, slices.Repeat([]runtime.Inst{function, log}, 2),
			[]runtime.Inst{end, exit})},
		{"one of two texts", at, "not known", []runtime.Inst{item, opA(opcode.Arg, 0), opA(opcode.Jz, 5), constant(0), opA(opcode.Jmp, 6), constant(1), log, end, exit}},
		{"a text from a scratch word", at, "seq is left", []runtime.Inst{function, opA(opcode.PopTV, 0), opA(opcode.PushTV, 0), constant(0), op(opcode.Seq), drop, exit}},
		{"a comparison", at, "", []runtime.Inst{function, constant(0), op(opcode.Seq), drop, exit}},
		{"a length", at, "", []runtime.Inst{function, op(opcode.Slen), drop, exit}},
		{"a hash", at, "hash is left", []runtime.Inst{function, op(opcode.Hash), drop, exit}},
		{"the way not taken", at, "", []runtime.Inst{function, constant(0), op(opcode.Seq), opA(opcode.Jnz, 6), op(opcode.Hash), exit, exit}},
		{"the way taken", at, "too few words", []runtime.Inst{function, constant(1), op(opcode.Seq), opA(opcode.Jnz, 6), op(opcode.Hash), exit, exit}},
		{"a jump to the comparison", at, "seq is left", []runtime.Inst{opA(opcode.Arg, 0), opA(opcode.Jz, 5), function, constant(0), opA(opcode.Jmp, 7),
			constant(0), constant(0), op(opcode.Seq), drop, exit}},
	} {
		p, err := PlanOf(&runtime.Code{Insts: c.list, Bounded: true, Texts: []string{"malloc", "other"}, LogMax: 400}, o.Arena, features, c.at)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		why := ""
		if bells := p.Doorbells(); len(bells) > 0 {
			why = p.Ops[bells[0]].Why
		}
		if (c.why == "") != (why == "") || !strings.Contains(why, c.why) {
			t.Errorf("%s: rings because %q", c.name, why)
		}
	}
}
