package arena

import (
	"testing"

	"gotap/runtime/object"
	"gotap/runtime/value"
)

// TestLayout: what is written where the layout says is what the host reads.
func TestLayout(t *testing.T) {
	a := newArena(t)
	layout := func(o object.Object, keys ...value.Kind) (int, Layout) {
		id, err := a.Declare(o)
		if err != nil {
			t.Fatal(err)
		}
		if len(keys) > 0 {
			if err := a.Refine(id, keys, value.KindInt); err != nil {
				t.Fatal(err)
			}
		}
		_, off := a.Lookup(id)
		l, ok := a.LayoutOf(off)
		if !ok || l.Object.Kind != o.Kind {
			t.Fatalf("%s: %+v", o.Label(), l)
		}
		return id, l
	}
	id, l := layout(object.Object{Kind: object.KindInt})
	a.words[l.Word/8] = 5
	if d, _ := a.Handle(id).Get(); d.Int != 5 {
		t.Errorf("a variable holds %d", d.Int)
	}
	id, l = layout(object.Object{Kind: object.KindSum})
	a.words[(l.Cells[0]+ValueOffset)/8], a.words[(l.Cells[0]+CountOffset)/8] = 7, 1
	if d, _ := a.Handle(id).Get(); d.Int != 7 || l.Banked || l.CellWords != 3 {
		t.Errorf("a sum is %d: %+v", d.Int, l)
	}
	id, l = layout(object.Object{Kind: object.KindAvg})
	bank := a.words[l.Word/8] & BankMask
	a.words[l.Word/8] += BankPin[bank]
	a.words[(l.Cells[bank]+ValueOffset)/8], a.words[(l.Cells[bank]+CountOffset)/8] = 9, 3
	a.words[l.Word/8] -= BankPin[bank]
	if d, _ := a.Handle(id).Get(); d.Int != 3 || !l.Banked {
		t.Errorf("an average is %d: %+v", d.Int, l)
	}
	id, l = layout(object.Object{Kind: object.KindArray, Size: 4})
	a.words[l.Cells[0]/8+3] = 8
	if d, _ := a.Handle(id).Get(value.Int(3)); d.Int != 8 {
		t.Errorf("a variable of an array is %d", d.Int)
	}
	if _, ok := a.LayoutOf(objectTable + 1); ok {
		t.Error("there is a layout of no object")
	}
}

// TestTableLayout: a key that the host inserted lies where the layout says.
func TestTableLayout(t *testing.T) {
	a := newArena(t)
	for _, full := range []object.Full{object.FullDrop, object.FullEvict} {
		id, _ := a.Declare(object.Object{Kind: object.KindMap, Keys: 2, Max: 20, Full: full})
		_, off := a.Lookup(id)
		if _, ok := a.LayoutOf(off); ok {
			t.Error("a map of unknown shape has a layout")
		}
		if err := a.Refine(id, []value.Kind{value.KindInt, value.KindInt}, value.KindInt); err != nil {
			t.Fatal(err)
		}
		if err := a.Handle(id).Set(value.Int(77), value.Int(5), value.Int(6)); err != nil {
			t.Fatal(err)
		}
		l, _ := a.LayoutOf(off)
		paired, step, words := full == object.FullDrop, uint64(1), uint64(3)
		if paired {
			step, words = 2, 2
		}
		if l.Table == nil || l.Table.KeyWords != 2 || l.Table.EntryWords != int(words) || l.Table.Paired != paired || l.Table.State%16 != 0 || (l.Table.Stamp != 0) != (full == object.FullEvict) || (l.Table.Clock != 0) != (full == object.FullEvict) {
			t.Fatalf("%+v", l.Table)
		}
		if n := a.words[l.Table.Used/8]; n != 1 {
			t.Errorf("%d keys", n)
		}
		found := false
		for slot := range l.Table.Slots {
			entry, state := a.words[l.Table.Entries/8+slot*words:], a.words[l.Table.State/8+slot*step:]
			cell := entry[2:]
			if paired {
				cell = state[1:]
			}
			if state[0]&statusMask == slotFull {
				found = entry[0] == 5 && entry[1] == 6 && cell[0] == 77
			}
		}
		if !found {
			t.Error("the key is not in the table")
		}
	}
}
