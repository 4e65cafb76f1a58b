package arena

import (
	"unsafe"

	"gotap/runtime/key"
	"gotap/runtime/object"
)

// Layout is where the data of an object lie, for executors whose code is made for one object. It is final: once an
// object has storage, its data never move. Offsets are in bytes from the start of the arena.
type Layout struct {
	Object    object.Object // as refined
	Word      uint64        // KindInt: the variable; banked kinds without keys: the bank word
	Banked    bool          // an object without keys has two cells, selected by the bank word
	Cells     [2]uint64     // of an object without keys; KindArray: the first variable
	CellWords int
	Table     *TableLayout // nil: the object has no keys
	Spread    *Spread      // KindStats: where buckets are; nil if there was no memory for them
	Share     *Share       // of Cells[0] in the shares of threads; nil: nothing may be counted there
	KeyShare  *KeyShare    // the same of an object with keys
}

// Spread is where the groups of buckets lie (spread.go).
type Spread struct{ Offset, Groups uint64 }

// TableLayout is where the parts of a table lie (table.go). Each part has one element for each slot.
type TableLayout struct {
	Home, State, Entries uint64
	Paired               bool   // each state is followed by the cell, and the two words begin at a multiple of 16 bytes
	Used                 uint64 // the number of keys
	Limit                uint64 // the maximum of Used
	Stamp, Clock         uint64 // 0 unless the object evicts
	Slots                uint64 // a power of two
	Shape                *key.Shape
	KeyWords, EntryWords int // words of the longest key; of an entry, which is a key and, unless it is behind the state, its cell
}

// Offsets in bytes of the words of a cell (cell.go).
const (
	CountOffset = cellCount * 8
	ValueOffset = cellValue * 8

	LeastOffset   = cellLeast * 8
	MostOffset    = cellMost * 8
	SquaresOffset = cellSquares * 8
	GroupsOffset  = cellGroups * 8
	FloatsOffset  = cellFloats * 8 // of stats: the sum, the minimum, the maximum and the sum of squares of floats

	FloatOffset = cellFloat * 8 // of others: the sum, or the extreme, of floats
)

// Of a group of buckets (spread.go): its size in bytes, and where it has its buckets' common number, of 32 bits, and
// their counts.
const (
	GroupBytes  = groupWords * 8
	GroupNumber = groupShift / 8
	GroupCounts = 8
)

// BankMask selects the bank in use from the bank word. BankPin is what a pin of a bank adds to it.
const BankMask = bankBit

var BankPin = [2]uint64{1 << bankShift[0], 1 << bankShift[1]}

// The words of a table (table.go), for executors that pin slots.
const (
	SlotBusy    = slotBusy  // may become the key that is searched
	SlotFull    = slotFull  // can be pinned
	SlotDying   = slotDying // the last pin empties it
	StatusMask  = statusMask
	PinOne      = pinOne // a pin
	PinMask     = pinMask
	MaxReach    = maxReach   // slots that a search looks at, at most
	ChangeShift = reachShift // position of the changes in a state, and of the reach in a home word
	TagShift    = 16         // position in a state of the upper half of the hash
)

// LayoutOf returns the layout of the object that programs name by an offset. ok is false if there is no such object, or
// if its data have no place yet because its shape is not known. It is safe for concurrent use.
func (a *Arena) LayoutOf(off uint64) (l Layout, ok bool) {
	obj := a.At(off)
	if obj == nil {
		return l, false
	}
	l.Word = off + descWord*8
	if obj.kind == object.KindInt {
		l.Object = *obj.decl.Load()
		return l, true
	}
	st := obj.storage.Load()
	if st == nil {
		return l, false
	}
	l.Object, l.Banked, l.CellWords, l.Share = st.Object, st.banked, st.cellWords(), st.share
	l.KeyShare = st.keyShare
	if st.spread != nil && st.spread.words != nil {
		l.Spread = &Spread{a.offsetOf(st.spread.words), uint64(len(st.spread.words) / groupWords)}
	}
	if st.shape != nil {
		l.Table = a.tableLayout(&st.table)
		l.Table.Shape = st.shape
		return l, true
	}
	for i := range st.cells {
		l.Cells[i] = a.offsetOf(st.cells[i])
	}
	return l, true
}

// tableLayout returns where a table lies.
func (a *Arena) tableLayout(t *table) *TableLayout {
	l := &TableLayout{Home: a.offsetOf(t.home), State: a.offsetOf(t.states), Paired: t.step == 2, Entries: a.offsetOf(t.entries), Used: a.offsetOf(unsafe.Slice(t.used, 1)), Limit: t.limit,
		Slots: t.mask + 1, KeyWords: t.keyWords, EntryWords: t.size}
	if t.stamp != nil {
		l.Stamp, l.Clock = a.offsetOf(t.stamp), a.offsetOf(unsafe.Slice(t.clock, 1))
	}
	return l
}

// offsetOf returns the offset of words of the arena, 0 for none.
func (a *Arena) offsetOf(words []uint64) uint64 {
	if len(words) == 0 {
		return 0
	}
	// Both pointers lead into the memory of the arena, which is one allocation.
	return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(words))) - uintptr(unsafe.Pointer(unsafe.SliceData(a.words))))
}
