package runtime

import (
	"encoding/binary"
	"math"
	"sync/atomic"

	"gotap/runtime/arena"
	"gotap/runtime/object"
	"gotap/runtime/opcode"
	"gotap/runtime/outcome"
	"gotap/runtime/value"
)

// storageOf finds the storage of the object that a program names, if it is of the wanted kind. Objects are named by
// their offset and looked up at each use. The offset comes from Lower or from hand-made instructions. Arena.At checks
// every offset, so a wrong one causes a trap and not a read from an arbitrary place in the arena.
func (m *Machine) storageOf(off uint64, kind object.Kind) *arena.Storage {
	obj := m.a.At(off)
	if obj == nil || obj.Kind() != kind {
		return nil
	}
	return obj.Storage()
}

// shared executes the operations on a shared variable, each as one atomic operation. A shared variable is one word, so
// every operation on it can be atomic, and x++ from two threads never loses a step. The price is a locked instruction,
// some nanoseconds, instead of a plain one.
func (m *Machine) shared(in *Inst) outcome.Trap {
	obj := m.a.At(in.V)
	if obj == nil || obj.Kind() != object.KindInt {
		return outcome.TrapIndex
	}
	p := obj.Word()
	switch in.Op {
	case opcode.PushGV:
		m.push(atomic.LoadUint64(p))
	case opcode.PopGV:
		atomic.StoreUint64(p, m.pop())
	case opcode.AddGV:
		atomic.AddUint64(p, m.pop())
	case opcode.IncGV:
		atomic.AddUint64(p, 1)
	case opcode.DecGV:
		// Adding all ones is subtracting one, modulo 2^64.
		atomic.AddUint64(p, ^uint64(0))
	case opcode.FetchAddGV:
		// AddUint64 returns the new value; the old value is the new one minus the addend.
		d := m.top()
		*d = atomic.AddUint64(p, *d) - *d
	default:
		return outcome.TrapOp
	}
	return outcome.NoTrap
}

// sharedText reads or writes a shared text. A text has many words, which no atomic operation covers, so it has a
// version instead. Writers make the version odd while they write. Readers retry if it was odd or has changed (package
// arena, textcell.go). A writer that finds another one at work gives up and is counted as contended, because it might
// otherwise wait for a thread that has been killed.
func (m *Machine) sharedText(in *Inst) outcome.Trap {
	st := m.storageOf(in.V, object.KindText)
	if st == nil {
		return outcome.TrapIndex
	}
	switch in.Op {
	case opcode.PushGVS:
		return m.pushCell(st, st.Cell())
	case opcode.PopGVS:
		p, cut, trap := m.popText()
		if trap == outcome.NoTrap {
			st.StoreText(st.Cell(), p, cut)
		}
		return trap
	}
	return outcome.TrapOp
}

// pushCell copies the text of an object's cell to the scratch memory.
func (m *Machine) pushCell(st *arena.Storage, cell []uint64) outcome.Trap {
	p := m.room(value.DefaultText + 8)
	if p == nil {
		return outcome.TrapText
	}
	n, cut := st.LoadText(cell, p)
	m.pushText(n, cut)
	return outcome.NoTrap
}

// array executes the operations on array elements; the index is on top of the stack. Arrays correspond to DProbes' lv
// and gv. DProbes shared them without any lock, and its bounds check for lv was off by one.
func (m *Machine) array(in *Inst) outcome.Trap {
	st := m.storageOf(in.V, object.KindArray)
	if st == nil {
		return outcome.TrapIndex
	}
	i := m.pop()
	if i >= uint64(len(st.Cell())) {
		m.p1, m.p2 = uint64(in.A), i // A: the number of the array in the program, as Lower prepared it
		return outcome.TrapIndex
	}
	p := &st.Cell()[i]
	switch in.Op {
	case opcode.PushLV:
		m.push(atomic.LoadUint64(p))
	case opcode.PopLV:
		atomic.StoreUint64(p, m.pop())
	case opcode.AddLV:
		atomic.AddUint64(p, m.pop())
	default:
		return outcome.TrapOp
	}
	return outcome.NoTrap
}

// this executes the operations on the storage of a call. The storage belongs to the thread that runs the program. The
// engine allocates it when the function is entered and frees it after the function has returned (AllocThis). ctx.This
// is 0 if the probe was armed during the call: then enter never ran, and there is nothing to read.
func (m *Machine) this(in *Inst) outcome.Trap {
	size := uint64(8)
	off := 8 * uint64(in.A)
	if in.Op == opcode.PushThisS || in.Op == opcode.PopThisS {
		size, off = arena.TextCell, uint64(in.A)
	}
	if m.ctx.This == 0 {
		return outcome.TrapThis
	}
	words := m.a.ThisWords(m.ctx.This, off, size)
	if words == nil {
		return outcome.TrapIndex
	}
	switch in.Op {
	case opcode.PushThis:
		m.push(words[0])
	case opcode.PopThis:
		words[0] = m.pop()
	case opcode.PushThisS:
		return m.pushThisText(words)
	case opcode.PopThisS:
		return m.popThisText(words)
	default:
		return outcome.TrapOp
	}
	return outcome.NoTrap
}

// pushThisText copies a text of the call to the scratch memory. It writes each word as little-endian bytes, because
// other executors use that layout, whatever the byte order of this machine is.
func (m *Machine) pushThisText(words []uint64) outcome.Trap {
	n := min(int(words[0]&value.HeaderLength), value.DefaultText)
	p := m.room((n + 7) &^ 7)
	if p == nil {
		return outcome.TrapText
	}
	for i := 0; i < n; i += 8 {
		binary.LittleEndian.PutUint64(p[i:], words[1+i/8])
	}
	m.pushText(n, words[0]&value.HeaderCut != 0)
	return outcome.NoTrap
}

// popThisText stores the text on top of the stack. A text longer than DefaultText is cut and marked.
func (m *Machine) popThisText(words []uint64) outcome.Trap {
	p, cut, trap := m.popText()
	if trap != outcome.NoTrap {
		return trap
	}
	if len(p) > value.DefaultText {
		p, cut = p[:value.DefaultText], true
	}
	words[0] = value.HeaderWord(len(p), cut)
	value.PackBytes(words[1:], p)
	return outcome.NoTrap
}

// perThread executes the operations on this thread's value. Reading does not create a value. A per-thread variable is a
// table keyed by thread ID. A slot is pinned while it is used, so that DropThread, which runs when a thread ends, does
// not empty it under an operation on a recycled ID.
func (m *Machine) perThread(in *Inst) outcome.Trap {
	st := m.storageOf(in.V, object.KindPerThread)
	if st == nil {
		return outcome.TrapIndex
	}
	key := [1]uint64{uint64(m.ctx.Tid)}
	if in.Op == opcode.PushPT {
		slot, ok := st.Find(key[:])
		if !ok {
			m.push(uint64(st.Init))
			return outcome.NoTrap
		}
		m.push(atomic.LoadUint64(&st.SlotCell(slot)[0]))
		st.Unpin(slot)
		return outcome.NoTrap
	}
	v := m.pop()
	slot, ok := st.Pin(key[:])
	if !ok {
		// A full table is counted as loss and is not a program error: there are more threads than the table was
		// declared for.
		return outcome.NoTrap // dropped and counted
	}
	p, trap := &st.SlotCell(slot)[0], outcome.NoTrap
	switch in.Op {
	case opcode.PopPT:
		atomic.StoreUint64(p, v)
	case opcode.AddPT:
		atomic.AddUint64(p, v)
	default:
		trap = outcome.TrapOp
	}
	st.Unpin(slot)
	return trap
}

// buildKey executes the operations that append a part to the key. Keys are built in the machine and not on the stack:
// texts would need room there, and the verifier follows the kinds of the parts more easily if operations fix their
// order.
func (m keyOps) buildKey(in *Inst) outcome.Trap {
	switch in.Op {
	case opcode.KeyInt:
		if !m.key.AddWord(m.pop()) {
			return outcome.TrapKey
		}
		return outcome.NoTrap
	case opcode.KeyText:
		return m.keyText(value.Kind(in.A))
	}
	return outcome.TrapOp
}

// useKey executes the operations that use the key. It leaves the key empty, also if the operation traps.
func (m keyOps) useKey(in *Inst) outcome.Trap {
	trap := m.keyed(in)
	m.key.Reset()
	return trap
}

// keyText appends text, bytes or a stack to the key. A stack is stored with its process, because its addresses mean
// nothing without it.
func (m keyOps) keyText(kind value.Kind) outcome.Trap {
	p, cut, trap := m.popText()
	if trap != outcome.NoTrap {
		return trap
	}
	var ok bool
	switch kind.Class() {
	case value.ClassStack:
		ok = m.key.AddStack(p, cut, m.ctx.Thread.Field(FieldPid))
	case value.ClassText:
		ok = m.key.AddText(p, cut)
	default:
		return outcome.TrapOp
	}
	if !ok {
		return outcome.TrapKey
	}
	return outcome.NoTrap
}

// keyed executes an operation on an object under the current key. The signature gives the kinds of the parts. It is
// compared for programs that Verify has not checked: a key of another shape could be byte for byte equal to a correct
// one.
func (m keyOps) keyed(in *Inst) outcome.Trap {
	obj := m.a.At(in.V)
	adds := in.Op == opcode.Agg || in.Op == opcode.AggFloat
	if obj == nil || adds != (obj.Kind() >= object.KindCount) || !adds && obj.Kind() != object.KindMap {
		return outcome.TrapIndex
	}
	st := obj.Storage()
	if st == nil {
		return m.useUnknown(in.Op)
	}
	if adds {
		return m.aggregate(st, in.Op == opcode.AggFloat)
	}
	if !st.Fits(&m.key) {
		return outcome.TrapKey
	}
	return m.useMap(in.Op, st)
}

// useUnknown handles a map that no value was ever stored in, whose value type is therefore unknown. It contains no
// keys.
func (m keyOps) useUnknown(op opcode.Op) outcome.Trap {
	switch op {
	case opcode.MapGet, opcode.MapGetS, opcode.MapHas:
		m.push(0)
		return outcome.NoTrap
	case opcode.MapDel:
		return outcome.NoTrap
	}
	return outcome.TrapIndex
}

// aggregate adds the word on top of the stack to an aggregation. Without a shape there are no keys, and the cell is at
// a fixed place. This fast path matters for count() in hot functions.
func (m keyOps) aggregate(st *arena.Storage, float bool) outcome.Trap {
	v := m.pop()
	if !st.Keyed() {
		switch {
		case !m.key.Empty():
			return outcome.TrapKey
		case float:
			st.AddFloat(math.Float64frombits(v))
		default:
			st.AddCell(int64(v))
		}
		return outcome.NoTrap
	}
	if st.Kind == object.KindSeries && !m.key.Prepend(uint64(st.Interval(int64(m.ctx.Thread.Field(FieldTime))))) {
		return outcome.TrapKey
	}
	if !st.Fits(&m.key) {
		return outcome.TrapKey
	}
	slot, trap := m.slot(st)
	if slot >= 0 {
		if cell := st.SlotCell(slot); float {
			st.UpdateFloat(cell, math.Float64frombits(v))
		} else {
			st.Update(cell, int64(v))
		}
		st.Unpin(slot)
	}
	return trap
}

// slot pins the slot of the current key and creates it for a new key. It returns -1 if there is no slot; the value to
// be stored is then dropped. The object's policy (Full) decides what happens to a new key in a full table: it is
// dropped and counted, it evicts another key, or it is an error. PinOrFull handles the first two. Only the third
// returns a trap, which is counted as such.
func (m keyOps) slot(st *arena.Storage) (int, outcome.Trap) {
	slot, ok, full := st.PinOrFull(m.key.Words())
	switch {
	case ok:
		return slot, outcome.NoTrap
	case full:
		return -1, outcome.TrapFull
	}
	return -1, outcome.NoTrap
}

// useMap executes an operation on a map under a key that fits the map.
func (m keyOps) useMap(op opcode.Op, st *arena.Storage) outcome.Trap {
	text := op == opcode.MapGetS || op == opcode.MapSetS
	if op != opcode.MapHas && op != opcode.MapDel && text != st.IsText() {
		return outcome.TrapIndex
	}
	switch op {
	case opcode.MapSet, opcode.MapSetS, opcode.MapAdd:
		return m.putMap(op, st)
	case opcode.MapDel:
		st.Remove(m.key.Words())
		return outcome.NoTrap
	}
	slot, ok := st.Find(m.key.Words())
	if !ok {
		m.push(0) // also the reference of the empty text
		return outcome.NoTrap
	}
	trap := outcome.NoTrap
	switch op {
	case opcode.MapHas:
		m.push(1)
	case opcode.MapGet:
		m.push(atomic.LoadUint64(&st.SlotCell(slot)[0]))
	case opcode.MapGetS:
		trap = m.pushCell(st, st.SlotCell(slot))
	default:
		trap = outcome.TrapOp
	}
	st.Unpin(slot)
	return trap
}

// putMap sets or adds to the value under the current key. If opcode.MapAdd finds no room, it pushes the amount to be
// added, which would be the value if there were room. The value is popped before the slot is searched, so that the
// program continues with the same stack whether or not the map is full.
func (m keyOps) putMap(op opcode.Op, st *arena.Storage) outcome.Trap {
	v := m.pop()
	text, ok := m.text(v)
	if op == opcode.MapSetS && !ok {
		return outcome.TrapText
	}
	slot, trap := m.slot(st)
	if slot < 0 {
		if op == opcode.MapAdd {
			m.push(v)
		}
		return trap
	}
	cell := st.SlotCell(slot)
	switch op {
	case opcode.MapSet:
		atomic.StoreUint64(&cell[0], v)
	case opcode.MapAdd:
		m.push(atomic.AddUint64(&cell[0], v))
	case opcode.MapSetS:
		st.StoreText(cell, text, Ref(v).Cut())
	}
	st.Unpin(slot)
	return outcome.NoTrap
}
