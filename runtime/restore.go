package runtime

import (
	"fmt"
	"sync/atomic"
)

// Restore replaces the content of an object by that of a snapshot. No program may add to the object at the same time.
func (h *Handle) Restore(s Snapshot) error {
	o := h.Object()
	if o.Kind != s.Object.Kind {
		return fmt.Errorf("cannot restore %s: the snapshot is of %s", o.label(), s.Object.label())
	}
	h.Clear()
	for _, e := range s.Entries {
		if err := h.restoreEntry(e); err != nil {
			return h.wrap("restore", err)
		}
	}
	return nil
}

func (h *Handle) restoreEntry(e Entry) error {
	switch h.obj.kind {
	case KindInt, KindText, KindArray, KindMap:
		return h.set(e.Data.value(), e.Key)
	case KindPerThread, KindTrail, KindRecorder:
		return nil
	}
	st, err := h.open(e.Key, ValueInt)
	if err != nil {
		return err
	}
	words := make([]uint64, st.cellWords())
	st.encode(words, e.Data)
	if st.shape == nil {
		h.obj.mergeCell(st, words)
		return nil
	}
	slot, err := h.insert(st, e.Key)
	if err != nil {
		return err
	}
	defer st.table.unpin(slot)
	st.merge(st.table.cell(slot), words)
	return nil
}

// value returns the value of a variable or a map entry.
func (d Data) value() Value {
	switch {
	case d.IsText:
		return Value{Kind: ValueText, Text: d.Text, Cut: d.Cut}
	case d.IsFloat:
		return Value{Kind: ValueFloat, Float: d.Float}
	}
	return Int(d.Int)
}

// encode stores d in the words of an aggregation's cell: the inverse of data.
func (o *Object) encode(cell []uint64, d Data) {
	switch o.form() {
	case KindHist, KindLhist:
		for _, b := range d.Buckets {
			if i := o.bucketOf(b); i >= 0 && i < len(cell) {
				atomic.AddUint64(&cell[i], b.Count)
			}
		}
		return
	case KindMin, KindMax:
		cell[cellValue] = uint64(d.Int)
	case KindSum, KindAvg, KindStats:
		cell[cellValue] = uint64(d.Sum)
	}
	cell[cellCount] = uint64(d.Count)
}

// bucketOf returns the index of a bucket by its bounds. Only the lowest has no lower bound.
func (o *Object) bucketOf(b Bucket) int {
	switch {
	case b.Min == nil:
		return 0
	case o.Kind == KindHist:
		return o.powers().index(*b.Min)
	}
	return o.linear().index(*b.Min)
}
