package arena

import (
	"sync/atomic"

	"gotap/runtime/object"
	"gotap/runtime/record"
)

// A recorder keeps the most recent records that programs of all threads gave it, until the host requests them. It shows
// what led to an unpredictable event. Its body is Max slots, each consisting of
//
//	0     state: 0 never used, else 2 × (number of the record + 1), plus 1 while it is being written
//	1…    the record, as it would be in the ring
//
// The clock word of the descriptor numbers records since the beginning. Record n goes to slot n modulo Max.
//
//   - A writer takes the next number, then locks the slot by a compare-and-swap that makes its state odd. If another
//     writer has the slot, or the slot already contains a younger record, the writer was overtaken by a whole round,
//     and its own record is the overwritten one.
//   - It writes the words and then stores the even state.
//   - A reader loads the state, copies the words, and loads the state again. If both are equal and even, the copy is
//     complete.
//
// The word descUsed is the number of the first record that has not been dumped yet. Only the host writes it.
const recorderState = 1 // words before a record

// openRecorderLocked allocates the slots of a recorder.
func (a *Arena) openRecorderLocked(obj *Instance, o object.Object) error {
	st := &Storage{Object: o, obj: obj}
	mem, off, err := a.memoryLocked(&o, uint64(o.Max)*st.recorderSlot())
	if err != nil {
		return err
	}
	obj.desc[descLimit] = uint64(o.Max)
	st.cells[0] = mem
	obj.publish(st, off)
	return nil
}

// recorderSlot returns the number of words in a slot.
func (st *Storage) recorderSlot() uint64 { return recorderState + uint64(st.Size)/8 }

// slotOf returns the slot of a record.
func (st *Storage) slotOf(number uint64) []uint64 {
	n := st.recorderSlot()
	return st.cells[0][number%uint64(st.Max)*n:][:n]
}

// record stores a record in place of the oldest one.
func (st *Storage) record(hdr *record.Header, item []byte) {
	if int(hdr.Size) > st.Size {
		atomic.AddUint64(&st.obj.desc[descDropped], 1)
		return
	}
	number := atomic.AddUint64(&st.obj.desc[descClock], 1) - 1
	slot, state := st.slotOf(number), 2*(number+1)
	before := atomic.LoadUint64(&slot[0])
	if before&1 != 0 || before > state || !atomic.CompareAndSwapUint64(&slot[0], before, state|1) {
		return
	}
	record.Encode(slot[recorderState:], hdr, item)
	atomic.StoreUint64(&slot[0], state)
}

// skip marks all existing records as dumped.
func (obj *Instance) skip() {
	atomic.StoreUint64(&obj.desc[descUsed], atomic.LoadUint64(&obj.desc[descClock]))
}

// Dump returns the records of a recorder since the last dump, oldest first, and the number of others that were
// overwritten meanwhile. Programs may continue recording; their new records are for the next dump.
func (h *Handle) Dump() (records []record.Record, overwritten uint64) {
	st := h.obj.storage.Load()
	if st == nil || st.Kind != object.KindRecorder {
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
			if rec, ok := record.Decode(words[recorderState:], h.a.Programs()); ok {
				records = append(records, rec)
			}
		}
	}
	return records, next - first - uint64(len(records))
}

// copySlotOf copies a slot if it completely contains the record with this number.
func (st *Storage) copySlotOf(number uint64, to []uint64) bool {
	slot, state := st.slotOf(number), 2*(number+1)
	if atomic.LoadUint64(&slot[0]) != state {
		return false
	}
	loadWords(slot, to)
	return atomic.LoadUint64(&slot[0]) == state
}
