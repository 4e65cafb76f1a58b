package runtime

import (
	"encoding/binary"
	"sync/atomic"
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
func (obj *object) leave(st *storage, hdr *Header, item []byte) {
	key := [1]uint64{uint64(hdr.Tid)}
	slot, got := obj.insert(st, key[:])
	if got > insertNew {
		return // counted
	}
	defer st.table.unpin(slot)
	cell := st.table.cell(slot)
	used, records := cell[trailUsed], cell[trailRecords:]
	if used+uint64(hdr.Size) > uint64(len(records)*8) {
		cell[trailDropped]++
		return
	}
	encodeRecord(records[used/8:], hdr, item)
	cell[trailUsed] = used + uint64(hdr.Size)
}

// encodeRecord writes a record as words.
func encodeRecord(to []uint64, hdr *Header, item []byte) {
	var header [recordHeader]byte
	hdr.encode(header[:])
	binary.LittleEndian.PutUint64(header[:], hdr.word())
	storeWords(to, header[:])
	storeWords(to[recordHeader/8:], item)
}

// storeWords copies bytes, a multiple of 8, into words that other threads may read at the same time.
func storeWords(to []uint64, p []byte) {
	for i := 0; i+8 <= len(p); i += 8 {
		atomic.StoreUint64(&to[i/8], binary.LittleEndian.Uint64(p[i:]))
	}
}

// endTrail empties the trail that an item names for a thread. If keep is set, it sends the records to the ring first.
func (a *Arena) endTrail(tid uint32, item []byte, keep bool) {
	if len(item) != deferredItem {
		return
	}
	obj := a.objectAt(binary.LittleEndian.Uint64(item[itemHeader:]))
	if obj == nil || obj.kind != KindTrail {
		return
	}
	st, key := obj.storage.Load(), [1]uint64{uint64(tid)}
	slot, ok := st.table.find(key[:], hashKey(key[:]))
	if !ok {
		return
	}
	defer st.table.unpin(slot)
	cell := st.table.cell(slot)
	if keep {
		a.tell(cell[trailRecords:][:cell[trailUsed]/8])
		atomic.AddUint64(&obj.desc[descDropped], cell[trailDropped])
	}
	cell[trailUsed], cell[trailDropped] = 0, 0
}

// tell writes records to the ring in order. Each record is committed separately: if the ring fills up, the remaining
// records are lost, and each of them is counted.
func (a *Arena) tell(records []uint64) {
	for len(records) > recordHeader/8 {
		size := records[0] & 0xffff_ffff
		if size == 0 || size/8 > uint64(len(records)) {
			return // only another process that maps the arena can cause this
		}
		at, ok := a.ring.reserve(size)
		if ok {
			for i := uint64(1); i < size/8; i++ {
				binary.LittleEndian.PutUint64(a.ring.data[at+8*i:], records[i])
			}
			a.ring.publish(at, records[0])
		} else {
			atomic.AddUint64(a.ring.lost, 1)
		}
		records = records[size/8:]
	}
}
