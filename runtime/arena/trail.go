package arena

import (
	"sync/atomic"

	"gotap/runtime/key"
	"gotap/runtime/object"
	"gotap/runtime/record"
)

// A trail keeps the records of each thread until a program sends them to the host or discards them. Most of what is
// traced on the way to an error is worthless if the error does not occur.
//
// A trail is a table keyed by thread. A cell consists of these words:
//
//	0     bytes of waiting records
//	1     number of records that did not fit
//	2…    the records, one after another, in the format of the ring
//
// Only the thread itself uses its cell, and it pins the slot. The end of the thread empties the slot, so that waits for
// the unpin. Records that did not fit count as lost when the trail is sent. A discarded trail that was too short has
// lost nothing.
const (
	trailUsed    = 0
	trailDropped = 1
	trailRecords = 2
)

// leave appends a record to the thread's trail.
func (st *Storage) leave(hdr *record.Header, item []byte) {
	key := [1]uint64{uint64(hdr.Tid)}
	slot, got := st.insert(key[:])
	if got > insertNew {
		return // counted
	}
	defer st.table.unpin(slot)
	cell := st.table.cell(slot)
	used, records := cell[trailUsed], cell[trailRecords:]
	if most := uint64(len(records) * 8); used > most || uint64(hdr.Size) > most-used {
		cell[trailDropped]++
		return
	}
	record.Encode(records[used/8:], hdr, item)
	cell[trailUsed] = used + uint64(hdr.Size)
}

// endTrail empties the trail that an item names for a thread. If keep is set, it sends the records to the ring first.
func (a *Arena) endTrail(tid uint32, item []byte, keep bool) {
	off, ok := record.TrailOf(item)
	obj := a.At(off)
	if !ok || obj == nil || obj.kind != object.KindTrail {
		return
	}
	st, k := obj.storage.Load(), [1]uint64{uint64(tid)}
	slot, ok := st.table.find(k[:], key.Hash(k[:]))
	if !ok {
		return
	}
	defer st.table.unpin(slot)
	cell := st.table.cell(slot)
	if keep {
		records := cell[trailRecords:]
		a.ring.PutWords(records[:min(cell[trailUsed]/8, uint64(len(records)))]) // other processes may write there
		atomic.AddUint64(&obj.desc[descDropped], cell[trailDropped])
	}
	cell[trailUsed], cell[trailDropped] = 0, 0
}
