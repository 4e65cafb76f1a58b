package runtime

import "sync/atomic"

// insert is offer for callers that cannot report an error: it counts every drop, whatever the policy is.
func (obj *object) insert(st *storage, key []uint64) (slot int, got inserted) {
	slot, got = obj.offer(st, key)
	if got == insertFull && st.Full == FullError {
		atomic.AddUint64(&obj.desc[descDropped], 1)
	}
	return slot, got
}

// offer pins the slot of an encoded key, creating the slot for a new key, and follows the object's policy when the
// object is full. It counts what it drops, evicts or gives up. If the policy is an error, the caller reports it, and a
// reported drop is not counted here. Any thread may call offer; it does not allocate.
func (obj *object) offer(st *storage, key []uint64) (slot int, got inserted) {
	hash := hashKey(key)
	for range 16 { // other threads may take the room that an eviction made
		slot, got = st.table.insert(key, hash, st.fresh)
		if got != insertFull || st.Full != FullEvict {
			break
		}
		gone, ok := obj.evictor.evict(&st.table)
		if !ok {
			break
		}
		if !st.outdated(gone, key) {
			atomic.AddUint64(&obj.desc[descEvicted], 1)
		}
	}
	switch got {
	case insertFull:
		if st.Full != FullError {
			atomic.AddUint64(&obj.desc[descDropped], 1)
		}
	case insertBusy:
		atomic.AddUint64(&obj.desc[descContended], 1)
	default:
		st.table.touch(slot)
	}
	return slot, got
}

// addSlot adds to the cell of a pinned slot. For maps and per-thread values it returns the new value, otherwise 0.
func (st *storage) addSlot(slot int, n int64) int64 {
	cell := st.table.cell(slot)
	if st.Kind == KindMap || st.Kind == KindPerThread {
		return add(&cell[0], n)
	}
	st.update(cell, n)
	return 0
}

// addCell adds to an aggregation that has no keys.
func (obj *object) addCell(st *storage, n int64) {
	if !st.banked {
		st.update(st.cells[0], n)
		return
	}
	bank := obj.pinBank()
	st.update(st.cells[bank], n)
	obj.unpinBank(bank)
}

// mergeCell adds a whole cell to an aggregation that has no keys.
func (obj *object) mergeCell(st *storage, words []uint64) {
	if !st.banked {
		st.merge(st.cells[0], words)
		return
	}
	bank := obj.pinBank()
	st.merge(st.cells[bank], words)
	obj.unpinBank(bank)
}

// DropThread deletes the per-thread values and the trails of a thread that has ended. Any thread may call it; it does
// not allocate.
func (a *Arena) DropThread(tid uint32) {
	key := [1]uint64{uint64(tid)}
	hash := hashKey(key[:])
	for _, obj := range *a.objects.Load() {
		if obj.kind == KindPerThread || obj.kind == KindTrail {
			if st := obj.storage.Load(); st != nil {
				st.table.remove(key[:], hash)
			}
		}
	}
}
