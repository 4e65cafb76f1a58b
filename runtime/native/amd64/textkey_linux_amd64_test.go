package amd64

import (
	"math/rand/v2"
	"strings"
	"testing"

	"gotap/runtime"
	"gotap/runtime/native"
	"gotap/runtime/object"
	"gotap/runtime/opcode"
	"gotap/runtime/value"
)

// TestTextKeys: native code finds keys with texts of memory without a doorbell, and takes no other key for them: not
// one that differs in a single word, as one with the same hash would.
func TestTextKeys(t *testing.T) {
	w := newWorld(t)
	w.c.setControl(1)
	number, id := w.object(object.Object{Kind: object.KindInt})
	w.initial = w.used(nil)
	for _, o := range w.objects.texted {
		if !o.isMap {
			continue
		}
		for _, n := range []int{0, 1, 8, 15, 256, 257} {
			w.textKeyCase(t, &o, strings.Repeat("k", n), number, id)
		}
	}
	if w.counts.bells > 0 {
		t.Errorf("%d doorbells", w.counts.bells)
	}
}

// textKeyCase looks for a key that is in a map, and for it when one of its words has changed.
func (w *world) textKeyCase(t *testing.T, o *textKeyed, text string, number uint64, id int) {
	t.Helper()
	h := w.arena.Handle(w.objects.all[o.index])
	_, off := w.arena.Lookup(w.objects.all[o.index])
	copy(w.c.data(), text+"\x00")
	var list []runtime.Inst
	var parts []value.Value
	for _, kind := range o.kinds {
		if kind == value.KindInt {
			list, parts = append(list, push(5), op(opcode.KeyInt)), append(parts, value.Int(5))
			continue
		}
		list = append(list, push(int64(dataAddr)), push(value.DefaultText), op(opcode.Str), opA(opcode.KeyText, uint32(value.KindText)))
		parts = append(parts, value.Value{Kind: value.KindText, Text: text[:min(len(text), value.DefaultText)], Cut: len(text) > value.DefaultText})
	}
	list = append(list, opV(opcode.MapHas, off), opV(opcode.PopGV, number), op(opcode.Exit))
	programs := []native.Program{{Run: w.plan(list...)}}
	w.restore(w.initial)
	h.Set(value.Int(3), parts...)
	l, _ := w.arena.LayoutOf(off)
	entries := w.memory[l.Table.Entries:][:8*l.Table.Slots*uint64(l.Table.EntryWords)]
	looks := func(want int64) {
		t.Helper()
		for range 3 { // with pairs and without
			site := Site{Addr: codeAddr}
			stub := w.place(w.c, programs, site)
			regs := w.anyRegs(rand.New(rand.NewPCG(1, 1)))
			var err error
			if w.c.do(func() { err = w.compare(stub, programs, site, &regs) }); err != nil {
				t.Fatalf("%v, %d bytes: %v", o.kinds, len(text), err)
			}
			if got := w.counted(id); got != want {
				t.Fatalf("%v, %d bytes: %d, not %d", o.kinds, len(text), got, want)
			}
		}
	}
	looks(1)
	for i := 0; i < len(entries); i += 8 {
		if was := entries[i]; was != 0 && i/8%l.Table.EntryWords < l.Table.KeyWords {
			entries[i] ^= 1
			looks(0)
			entries[i] = was
		}
	}
}
