package engine

import (
	"testing"

	"gotap/engine/testenv"
	"gotap/runtime"
	"gotap/runtime/object"
	"gotap/runtime/opcode"
	"gotap/runtime/value"
)

// keyed declares an object with keys of one integer, and returns its number and its offset.
func (w *world) keyed(k object.Kind, most int) (id int, offset uint64) {
	w.t.Helper()
	id, err := w.arena.Declare(object.Object{Kind: k, Keys: 1, Max: most})
	if err == nil {
		err = w.arena.Refine(id, []value.Kind{value.KindInt}, value.KindInt)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	_, offset = w.arena.Lookup(id)
	return id, offset
}

// TestInlineNewKeys: several threads insert the same keys at the same time, and set and delete others. Each key is there
// once, with all that was counted, none of the others remains, and few of the insertions stop a thread.
func TestInlineNewKeys(t *testing.T) {
	testenv.Require(t, testenv.AMD64, testenv.Ptrace)
	const keys, threads = 4000, 4
	w := newInlineWorld(t, FollowThreads)
	tg := w.launch(program(t, "target.c"), "threads", "4000", "4")
	id, counts := w.keyed(object.KindCount, 2*keys)
	open, since := w.keyed(object.KindMap, 4*threads)
	arg := runtime.Inst{Op: opcode.Arg}
	number := []runtime.Inst{arg, {Op: opcode.Field, A: uint32(runtime.FieldTid)}, {Op: opcode.Add}, {Op: opcode.KeyInt}}
	w.probe("work", Handlers{Enter: w.code(arg, runtime.Inst{Op: opcode.KeyInt}, runtime.Inst{Op: opcode.PushD, V: 1}, runtime.Inst{Op: opcode.Agg, V: counts})})
	w.probe("work", Handlers{
		Enter: w.code(append(number, arg, runtime.Inst{Op: opcode.MapSet, V: since})...),
		Leave: w.code(append(number, runtime.Inst{Op: opcode.MapDel, V: since})...)})
	w.run()
	want(t, "output", tg.output(), "threads bad=0\n")
	for i := range keys {
		if d, ok := w.arena.Handle(id).Get(value.Int(int64(i))); !ok || d.Count != threads {
			t.Fatalf("key %d: %+v", i, d)
		}
	}
	want(t, "keys", w.arena.Handle(id).Len(), keys)
	want(t, "keys that were deleted", w.arena.Handle(open).Len(), 0)
	if lost := w.arena.Lost(); len(lost) > 0 {
		t.Errorf("lost: %v", lost)
	}
	if s := w.Stats(); s.Hits > keys*threads/8 {
		t.Errorf("%d of %d calls stopped a thread", s.Hits, keys*threads)
	}
}
