package runtime

import (
	"encoding/binary"
	"sync/atomic"
)

// A trail keeps records of each thread until a program tells them to the host or forgets them: most of what is traced on the way
// to an error is worth nothing when there is none.
//
// It is a table keyed by thread; a cell is, in words,
//
//	0     bytes of records that wait
//	1     records that did not fit
//	2…    the records, one behind the other, as they will be in the ring
//
// Only the thread itself uses its cell, with the slot pinned, so that the end of the thread, which empties the slot, waits. What
// did not fit counts as lost when the trail is told: that a forgotten trail was too short has cost nothing.
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

// storeWords copies bytes, a multiple of 8, into words that others may look at meanwhile.
func storeWords(to []uint64, p []byte) {
	for i := 0; i+8 <= len(p); i += 8 {
		atomic.StoreUint64(&to[i/8], binary.LittleEndian.Uint64(p[i:]))
	}
}

// endTrail empties the trail that an item names for a thread; with keep its records go to the ring.
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

// tell puts records into the ring, in their order. Each is a commitment of its own: a ring that fills up loses the rest, and
// each of those is counted.
func (a *Arena) tell(records []uint64) {
	for len(records) > recordHeader/8 {
		size := records[0] & 0xffff_ffff
		if size == 0 || size/8 > uint64(len(records)) {
			return // only another process that maps the arena can have done that
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
