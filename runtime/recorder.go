package runtime

import (
	"encoding/binary"
	"sync/atomic"
)

// A recorder keeps the last records that programs gave it, of all threads, until the host asks: what led to an event that
// nobody can foresee. Its body is Max slots, each of
//
//	0     state: 0 never used, else 2 × (number of the record + 1), plus 1 while it is being written
//	1…    the record, as it would be in the ring
//
// Numbers count records since the beginning, in the clock word of the descriptor; record n goes to slot n modulo Max.
//
//   - A writer takes the next number, then the slot, by a compare-and-swap that makes its state odd. When another writer has the
//     slot, or a younger record is in it already, it was overtaken by a whole round: its record is the overwritten one.
//   - It writes the words and then stores the even state.
//   - A reader looks at the state, copies the words, and looks again: equal and even means that the copy is whole.
//
// The word descUsed is the number of the first record that was not dumped yet; only the host writes it.
const recorderState = 1 // words in front of a record

// openRecorderLocked gives a recorder its slots.
func (a *Arena) openRecorderLocked(obj *object, o Object) error {
	mem, off, err := a.memoryLocked(&o, uint64(o.Max)*o.recorderSlot())
	if err != nil {
		return err
	}
	obj.desc[descLimit] = uint64(o.Max)
	obj.publish(&storage{Object: o, cells: [2]cell{mem}}, off)
	return nil
}

// recorderSlot is the words of a slot.
func (o *Object) recorderSlot() uint64 { return recorderState + uint64(o.Size)/8 }

// slotOf is the slot of a record.
func (st *storage) slotOf(number uint64) []uint64 {
	n := st.recorderSlot()
	return st.cells[0][number%uint64(st.Max)*n:][:n]
}

// record keeps a record, in the place of the oldest one.
func (obj *object) record(st *storage, hdr *Header, item []byte) {
	if int(hdr.Size) > st.Size {
		atomic.AddUint64(&obj.desc[descDropped], 1)
		return
	}
	number := atomic.AddUint64(&obj.desc[descClock], 1) - 1
	slot, state := st.slotOf(number), 2*(number+1)
	before := atomic.LoadUint64(&slot[0])
	if before&1 != 0 || before > state || !atomic.CompareAndSwapUint64(&slot[0], before, state|1) {
		return
	}
	encodeRecord(slot[recorderState:], hdr, item)
	atomic.StoreUint64(&slot[0], state)
}

// skip takes all records so far as dumped.
func (obj *object) skip() {
	atomic.StoreUint64(&obj.desc[descUsed], atomic.LoadUint64(&obj.desc[descClock]))
}

// Dump returns the records of a recorder that were kept since the last dump, oldest first, and how many others were
// overwritten meanwhile. Programs may go on recording; what they add is for the next dump.
func (h *Handle) Dump() (records []Record, overwritten uint64) {
	st := h.obj.storage.Load()
	if st == nil || st.Kind != KindRecorder {
		return nil, 0
	}
	h.obj.host.Lock()
	defer h.obj.host.Unlock()
	next := atomic.LoadUint64(&h.obj.desc[descClock])
	first := atomic.LoadUint64(&h.obj.desc[descUsed])
	atomic.StoreUint64(&h.obj.desc[descUsed], next)
	number := first
	if next-first > uint64(st.Max) {
		number = next - uint64(st.Max)
	}
	words := make([]uint64, st.recorderSlot())
	for ; number < next; number++ {
		if st.copySlotOf(number, words) {
			if rec, ok := h.a.decodeRecord(words[recorderState:]); ok {
				records = append(records, rec)
			}
		}
	}
	return records, next - first - uint64(len(records))
}

// copySlotOf copies a slot when it holds the record with this number, whole.
func (st *storage) copySlotOf(number uint64, to []uint64) bool {
	slot, state := st.slotOf(number), 2*(number+1)
	if atomic.LoadUint64(&slot[0]) != state {
		return false
	}
	read(slot, to)
	return atomic.LoadUint64(&slot[0]) == state
}

// decodeRecord makes a record of its words.
func (a *Arena) decodeRecord(words []uint64) (Record, bool) {
	size := words[0] & 0xffff_ffff
	if size < recordHeader || size/8 > uint64(len(words)) {
		return Record{}, false
	}
	p := make([]byte, size)
	for i := range size / 8 {
		binary.LittleEndian.PutUint64(p[8*i:], words[i])
	}
	rec := Record{Header: decodeHeader(p, words[0])}
	rec.Items, _ = decodeItems(p[recordHeader:], *a.programs.Load(), int64(rec.Pid))
	return rec, true
}
