package arena

import (
	"fmt"
	"sync/atomic"

	"gotap/runtime/object"
	"gotap/runtime/snapshot"
	"gotap/runtime/value"
)

// Restore replaces the content of an object by that of a snapshot. No program may add to the object at the same time.
func (h *Handle) Restore(s snapshot.Snapshot) error {
	o := h.Object()
	if o.Kind != s.Object.Kind {
		return fmt.Errorf("cannot restore %s: the snapshot is of %s", o.Label(), s.Object.Label())
	}
	h.Clear()
	for _, e := range s.Entries {
		if err := h.restoreEntry(e); err != nil {
			return h.wrap("restore", err)
		}
	}
	return nil
}

func (h *Handle) restoreEntry(e snapshot.Entry) error {
	switch h.obj.kind {
	case object.KindInt, object.KindText, object.KindArray, object.KindMap:
		return h.set(e.Data.Value(), e.Key)
	case object.KindPerThread, object.KindTrail, object.KindRecorder:
		return nil
	}
	st, err := h.open(e.Key, value.KindInt)
	if err != nil {
		return err
	}
	c := copied{make([]uint64, st.cellWords()), e.Data.Bins}
	st.encode(c.words, e.Data)
	if st.shape == nil {
		st.mergeCell(c)
		return nil
	}
	slot, err := h.insert(st, e.Key)
	if err != nil {
		return err
	}
	defer st.table.unpin(slot)
	st.merge(st.table.cell(slot), c)
	return nil
}

// encode stores d in the words of an aggregation's cell: the inverse of data.
func (st *Storage) encode(cell []uint64, d snapshot.Data) {
	switch st.Form() {
	case object.KindHist, object.KindLhist:
		for _, b := range d.Buckets {
			if i := st.bucketOf(b); i >= 0 && i < len(cell) {
				atomic.AddUint64(&cell[i], b.Count)
			}
		}
		return
	case object.KindMin:
		cell[cellValue] = uint64(d.Min)
	case object.KindMax:
		cell[cellValue] = uint64(d.Max)
	case object.KindSum, object.KindAvg:
		cell[cellValue] = uint64(d.Sum)
	case object.KindStats:
		cell[cellValue], cell[cellLeast], cell[cellMost] = uint64(d.Sum), uint64(d.Min), uint64(d.Max)
		cell[cellSquares], cell[cellSquares+1] = d.Squares.Lo, d.Squares.Hi
	}
	if st.hasFloats() {
		st.putFloats(cell, d.Floats)
	}
	cell[cellCount] = uint64(d.Count)
}

// bucketOf returns the index of a bucket by its bounds. Only the lowest has no lower bound.
func (st *Storage) bucketOf(b snapshot.Bucket) int {
	switch {
	case b.Min == nil:
		return 0
	case st.Kind == object.KindHist:
		return st.Powers().Index(*b.Min)
	}
	return st.Linear().Index(*b.Min)
}
