package arena

import (
	"gotap/runtime/key"
	"gotap/runtime/object"
)

// What programs do with objects. Nothing here allocates or takes a lock that a program's thread could wait for, and any
// thread may call it.

// Kind returns the kind of the object, which never changes.
func (obj *Instance) Kind() object.Kind { return obj.kind }

// Word returns the word of a shared variable, an object of KindInt.
func (obj *Instance) Word() *uint64 { return &obj.desc[descWord] }

// Storage returns the cells of the object, or nil while their shape is not known.
func (obj *Instance) Storage() *Storage { return obj.storage.Load() }

// Keyed reports whether the object has keys.
func (st *Storage) Keyed() bool { return st.shape != nil }

// Fits reports whether a key has the form of the object's keys. Only a keyed object has any.
func (st *Storage) Fits(k *key.Buffer) bool { return k.Fits(st.shape) }

// Cell returns the cell of an object without keys, or the variables of an array.
func (st *Storage) Cell() []uint64 { return st.cells[0] }

// Find pins the slot of a key, which the caller must unpin.
func (st *Storage) Find(k []uint64) (slot int, ok bool) { return st.table.find(k, key.Hash(k)) }

// Remove deletes a key if it is present.
func (st *Storage) Remove(k []uint64) { st.table.remove(k, key.Hash(k)) }

// Pin pins the slot of a key, creating the slot for a new key. ok is false if there is no slot, which has been counted:
// what was to be stored is dropped.
func (st *Storage) Pin(k []uint64) (slot int, ok bool) {
	slot, got := st.insert(k)
	return slot, got <= insertNew
}

// PinOrFull is Pin by the object's policy: full is true, and nothing has been counted, if there is no room and that is
// an error (FullError).
func (st *Storage) PinOrFull(k []uint64) (slot int, ok, full bool) {
	slot, got := st.offer(k)
	return slot, got <= insertNew, got == insertFull && st.Full == object.FullError
}

// Unpin removes the pin of a slot.
func (st *Storage) Unpin(slot int) { st.table.unpin(slot) }

// SlotCell returns the cell of a pinned slot.
func (st *Storage) SlotCell(slot int) []uint64 { return st.table.cell(slot) }

// ThisWords returns size bytes at off in the storage of a call as words, or nil if they are not inside. this is what
// AllocThis returned. Both numbers come from other sources, so everything is checked.
func (a *Arena) ThisWords(this, off, size uint64) []uint64 {
	// Subtracting from the length cannot wrap; adding to this could.
	if off%8 != 0 || off+size > MaxThisBytes || this%8 != 0 || this > uint64(len(a.bytes))-off-size {
		return nil
	}
	return a.words[(this+off)/8:][:size/8]
}
