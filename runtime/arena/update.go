package arena

import (
	"math"
	"sync/atomic"

	"gotap/runtime/key"
	"gotap/runtime/object"
	"gotap/runtime/value"
)

// insert is offer for callers that cannot report an error: it counts every drop, whatever the policy is.
func (st *Storage) insert(key []uint64) (slot int, got inserted) {
	slot, got = st.offer(key)
	if got == insertFull && st.Full == object.FullError {
		atomic.AddUint64(&st.obj.desc[descDropped], 1)
	}
	return slot, got
}

// offer pins the slot of an encoded key, creating the slot for a new key, and follows the object's policy when the
// object is full. It counts what it drops, evicts or gives up. If the policy is an error, the caller reports it, and a
// reported drop is not counted here. Any thread may call offer; it does not allocate.
func (st *Storage) offer(k []uint64) (slot int, got inserted) {
	hash := key.Hash(k)
	for range 16 { // other threads may take the room that an eviction made
		slot, got = st.table.insert(k, hash, st.fresh)
		if got != insertFull || st.Full != object.FullEvict {
			break
		}
		gone, ok := st.obj.evictor.evict(&st.table)
		if !ok {
			break
		}
		if !st.outdated(gone, k) {
			atomic.AddUint64(&st.obj.desc[descEvicted], 1)
		}
	}
	switch got {
	case insertFull:
		if st.Full != object.FullError {
			atomic.AddUint64(&st.obj.desc[descDropped], 1)
		}
	case insertBusy:
		atomic.AddUint64(&st.obj.desc[descContended], 1)
	default:
		st.table.touch(slot)
	}
	return slot, got
}

// addSlot adds to the cell of a pinned slot. For maps and per-thread values it returns the new value, otherwise 0.
func (st *Storage) addSlot(slot int, n int64) int64 {
	cell := st.table.cell(slot)
	switch {
	case st.Kind == object.KindMap && st.Value == value.KindFloat:
		changeWord(&cell[0], func(old uint64) uint64 { return math.Float64bits(math.Float64frombits(old) + float64(n)) })
		return 0
	case st.Kind == object.KindMap || st.Kind == object.KindPerThread:
		return add(&cell[0], n)
	}
	st.Update(cell, n)
	return 0
}

// AddCell adds to an aggregation that has no keys.
func (st *Storage) AddCell(n int64) {
	if !st.banked {
		st.Update(st.cells[0], n)
		return
	}
	bank := st.obj.pinBank()
	st.Update(st.cells[bank], n)
	st.obj.unpinBank(bank)
}

// inCell changes the cell of an aggregation that has no keys.
func (st *Storage) inCell(change func(cell []uint64)) {
	if !st.banked {
		change(st.cells[0])
		return
	}
	bank := st.obj.pinBank()
	change(st.cells[bank])
	st.obj.unpinBank(bank)
}

// mergeCell adds a whole cell to an aggregation that has no keys.
func (st *Storage) mergeCell(c copied) {
	st.inCell(func(cell []uint64) { st.merge(cell, c) })
}

// DropThread deletes the per-thread values and the trails of a thread that has ended. Any thread may call it; it does
// not allocate.
func (a *Arena) DropThread(tid uint32) {
	k := [1]uint64{uint64(tid)}
	hash := key.Hash(k[:])
	for _, obj := range *a.objects.Load() {
		if obj.kind == object.KindPerThread || obj.kind == object.KindTrail {
			if st := obj.storage.Load(); st != nil {
				st.table.remove(k[:], hash)
			}
		}
	}
}
