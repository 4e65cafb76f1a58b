package arena

import (
	"fmt"
	"sync/atomic"

	"gotap/runtime/key"
	"gotap/runtime/object"
	"gotap/runtime/value"
)

// banked reports whether a kind has two words that belong together. Unkeyed objects of such kinds have two cells: the
// host switches programs to one cell and reads the other.
func banked(k object.Kind) bool {
	switch k {
	case object.KindMin, object.KindMax, object.KindAvg, object.KindStats:
		return true
	}
	return false
}

// The bank word of a descriptor holds the bank in use in bit 0, the pins of bank 0 in bits 1–31, and the pins of bank 1
// in bits 32–62.
const (
	bankBit  = uint64(1)
	bankMask = uint64(1)<<31 - 1
)

var bankShift = [2]uint{1, 32}

// pinBank returns the bank in use, which the host does not read until unpinBank. The pin count and the bank are in one
// word, so a program cannot pin a bank that was switched away between its load and its pin.
func (obj *Instance) pinBank() int {
	p := &obj.desc[descWord]
	for {
		w := atomic.LoadUint64(p)
		bank := int(w & bankBit)
		if atomic.CompareAndSwapUint64(p, w, w+1<<bankShift[bank]) {
			return bank
		}
	}
}

// unpinBank removes the pin that pinBank took.
func (obj *Instance) unpinBank(bank int) {
	atomic.AddUint64(&obj.desc[descWord], -(uint64(1) << bankShift[bank]))
}

// switchBank switches programs to the other bank and waits until no program adds to the old one. The caller holds
// obj.host. Adding takes nanoseconds, so the wait is short. A thread that died while it held a pin makes the wait long
// once, and its last addition may then be torn. A slightly wrong number is better than a host that hangs.
func (obj *Instance) switchBank() (old int) {
	p := &obj.desc[descWord]
	for {
		w := atomic.LoadUint64(p)
		if old = int(w & bankBit); atomic.CompareAndSwapUint64(p, w, w^bankBit) {
			break
		}
	}
	for b := (backoff{}); atomic.LoadUint64(p)>>bankShift[old]&bankMask != 0 && b.wait(); {
	}
	return old
}

// memoryLocked allocates zeroed memory for an object.
func (a *Arena) memoryLocked(o *object.Object, words uint64) (mem []uint64, off uint64, err error) {
	off, ok := a.allocateLocked(words * 8)
	if !ok {
		return nil, 0, fmt.Errorf("cannot set aside %d bytes for %s: the arena of %d bytes is full", words*8, o.Label(), len(a.bytes))
	}
	return a.words[off/8:][:words], off, nil
}

// storageLocked returns the storage of an object without its memory.
func (a *Arena) storageLocked(obj *Instance, o object.Object) *Storage {
	st := &Storage{Object: o, obj: obj}
	if o.Kind == object.KindStats {
		a.openSpreadLocked()
		st.spread = &a.spread
	}
	return st
}

// openCellLocked allocates the cells of an unkeyed object.
func (a *Arena) openCellLocked(obj *Instance, o object.Object) error {
	st := a.storageLocked(obj, o)
	st.banked = banked(o.Kind)
	n := uint64(st.cellWords())
	mem, off, err := a.memoryLocked(&o, 2*n)
	if err != nil {
		return err
	}
	for i := range st.cells {
		st.cells[i] = mem[uint64(i)*n:][:n:n]
		st.fresh(st.cells[i])
	}
	if o.Kind >= object.KindCount && !st.banked {
		st.share = newShare(a, st.cells[0])
	}
	if o.Kind == object.KindText {
		storeText(st.cells[0], []byte(o.Text), false)
	}
	obj.publish(st, off)
	return nil
}

// openArrayLocked allocates the variables of an array.
func (a *Arena) openArrayLocked(obj *Instance, o object.Object) error {
	mem, off, err := a.memoryLocked(&o, uint64(o.Size))
	if err != nil {
		return err
	}
	obj.publish(&Storage{Object: o, obj: obj, cells: [2]cell{mem}}, off)
	return nil
}

// openTableLocked allocates the table of an object. A table is not allocated before the first program uses it, because
// only programs determine the kinds of the key parts, and these determine the size of a slot.
func (a *Arena) openTableLocked(obj *Instance, o object.Object, keys []value.Kind) error {
	sh, err := key.NewShape(keys)
	if err != nil {
		return fmt.Errorf("cannot key %s: %w", o.Label(), err)
	}
	switch {
	case o.Kind == object.KindSeries:
		o.Max = o.Rows(len(keys))
	case o.Max == 0:
		o.Max = object.DefaultKeys
	}
	evicts := o.Full == object.FullEvict
	st := a.storageLocked(obj, o)
	st.shape = sh
	mem, off, err := a.memoryLocked(&o, tableWords(o.Max, sh.Words, st.cellWords(), evicts))
	if err != nil {
		return err
	}
	st.table = newTable(mem, o.Max, sh.Words, st.cellWords(), evicts, &obj.desc[descUsed], &obj.desc[descClock])
	obj.desc[descSlots], obj.desc[descKeyWords] = st.table.mask+1, uint64(sh.Words)
	obj.desc[descLimit] = uint64(o.Max)
	st.keyShare = newKeyShare(a, st)
	obj.publish(st, off)
	return nil
}

// publish completes the descriptor and makes the storage available to programs and the host. It stores the kind's word
// last and atomically, so an executor that sees descHas in it sees everything else.
func (obj *Instance) publish(st *Storage, off uint64) {
	obj.desc[descBody], obj.desc[descCellWords] = off, uint64(st.cellWords())
	obj.decl.Store(&st.Object)
	obj.storage.Store(st)
	kind := uint64(st.Kind) | uint64(st.Full)<<8 | uint64(st.Value)<<16 | uint64(max(st.Keys, 0))<<24
	atomic.StoreUint64(&obj.desc[descKind], kind|descHas)
}
