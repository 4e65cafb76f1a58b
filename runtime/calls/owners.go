package calls

import (
	"sync/atomic"

	"gotap/runtime/arena"
)

// Layout of Owners in the arena, in bytes from its start: slots of two words, the owner and the number of its stack. An
// owner is the address of a thread's own data (the base of fs; on 64-bit ARM what is in tpidr_el0). Its slot is the one
// that SlotOf returns, or one of the next Probes-1.
const (
	Slots    = 1 << slotBits
	SlotSize = 16
	StackAt  = 8 // in a slot
	Probes   = 4

	slotBits = 10
)

// Multiplier spreads owners over the slots: bits of the product from SlotShift on number the slot. It is a constant of
// 31 bits, which an instruction can contain. So those bits depend on the owner's bits 2 to 41: on all in which the
// addresses of threads' own data differ, whether their stacks have 16 KiB or 1 TiB.
const (
	Multiplier = 0x61c88647
	SlotShift  = 32
)

// SlotOf returns the first slot of an owner.
func SlotOf(owner uint64) int { return int(owner * Multiplier >> SlotShift & (Slots - 1)) }

// nobody is the owner of a free slot. It lies outside of user space, so no thread has it as its base of fs.
const nobody = ^uint64(0)

// Owners tells the threads of one address space which stack is theirs.
type Owners struct {
	off   uint64
	words []uint64
}

// NewOwners allocates a table without entries.
func NewOwners(a *arena.Arena) (*Owners, error) {
	off, words, ok := a.Reserve((Slots + Probes) * SlotSize)
	if !ok {
		return nil, errNoMemory
	}
	o := &Owners{off, words}
	o.Clear()
	return o, nil
}

// Offset returns where the table lies in the arena, in bytes.
func (o *Owners) Offset() uint64 { return o.off }

// word is the owner of a slot.
func (o *Owners) word(slot int) owner { return owner{&o.words[slot*SlotSize/8]} }

// owner is the word of a slot that names its owner.
type owner struct{ p *uint64 }

func (w owner) Load() uint64   { return atomic.LoadUint64(w.p) }
func (w owner) Store(v uint64) { atomic.StoreUint64(w.p, v) }

// Set enters the stack of an owner and replaces its former one. It returns false if there is no room: native code then
// finds no stack, and asks the host.
func (o *Owners) Set(of uint64, k *Stack) bool {
	o.Remove(of)
	for i := range Probes {
		slot := SlotOf(of) + i
		if o.word(slot).Load() != nobody {
			continue
		}
		atomic.StoreUint64(&o.words[(slot*SlotSize+StackAt)/8], uint64(k.number))
		o.word(slot).Store(of)
		return true
	}
	return false
}

// Clear removes all entries.
func (o *Owners) Clear() {
	for slot := range Slots + Probes {
		o.word(slot).Store(nobody)
	}
}

// Remove removes the entry of an owner, if there is one.
func (o *Owners) Remove(of uint64) {
	for i := range Probes {
		if w := o.word(SlotOf(of) + i); w.Load() == of {
			w.Store(nobody)
		}
	}
}
