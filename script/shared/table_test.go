package shared

import (
	"testing"

	"gotap/runtime/arena"
	"gotap/runtime/object"
	"gotap/script/journal"
)

func newArena(t *testing.T) *arena.Arena {
	t.Helper()
	arena, err := arena.New(arena.Options{Size: 16 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { arena.Close() })
	return arena
}

func declare(t *testing.T, table *Table, o object.Object, setting bool) (Object, bool) {
	t.Helper()
	made, adopted, err := table.Declare(o, setting)
	if err != nil {
		t.Fatal(err)
	}
	return made, adopted
}

// A new version takes over objects of the same name and type, each once, and settings only with the same first value.
func TestAdoption(t *testing.T) {
	arena := newArena(t)
	old := NewTable(arena, &journal.World{}, nil)
	count := object.Object{Kind: object.KindCount, Name: "n", Keys: 1}
	limit := object.Object{Kind: object.KindInt, Name: "limit", Init: 5}
	first, _ := declare(t, old, count, false)
	declare(t, old, limit, true)
	next := NewTable(arena, &journal.World{}, old)
	if made, adopted := declare(t, next, count, false); !adopted || made.ID != first.ID || !next.Adopted(made.ID) {
		t.Errorf("object %d, not %d", made.ID, first.ID)
	}
	if _, adopted := declare(t, next, count, false); adopted {
		t.Error("an object is taken over twice")
	}
	limit.Init = 6
	if _, adopted := declare(t, next, limit, true); adopted {
		t.Error("a setting with a new value is taken over")
	}
	if _, adopted := declare(t, next, limit, false); !adopted {
		t.Error("a variable with another first value is not taken over")
	}
}

// Values, TakeValues, Reset and Restore see the same objects.
func TestValues(t *testing.T) {
	table := NewTable(newArena(t), &journal.World{}, nil)
	o, _ := declare(t, table, object.Object{Kind: object.KindInt, Name: "x", Init: 1}, false)
	declare(t, table, object.Object{Kind: object.KindPerThread, Name: "own"}, false)
	if err := o.Handle.Add(4); err != nil {
		t.Fatal(err)
	}
	kept := table.Values()
	if d, ok := table.Get(o, nil); !ok || d.Int != 5 || len(kept) != 1 {
		t.Fatalf("%v, %d objects have values", d, len(kept))
	}
	table.Reset()
	if d, _ := table.Get(o, nil); d.Int != 1 {
		t.Errorf("%d after Reset", d.Int)
	}
	if table.Restore(kept); len(table.UsedValues()) != 0 {
		t.Error("an object that no program uses was restored")
	}
	table.Used = func(int) bool { return true }
	table.Restore(kept)
	if d, _ := table.Get(o, nil); d.Int != 5 {
		t.Errorf("%d after Restore", d.Int)
	}
}
