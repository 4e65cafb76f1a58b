package runtime

import (
	"encoding/binary"
	"sync/atomic"

	"gotap/runtime/opcode"
)

// storageOf finds the storage of the object that a program names, if it is of the wanted kind. Objects are named by
// their offset and looked up at each use. The offset comes from Lower or from hand-made instructions. objectAt checks
// every offset, so a wrong one causes a trap and not a read from an arbitrary place in the arena.
func (m *Machine) storageOf(off uint64, kind ObjectKind) (*object, *storage) {
	obj := m.a.objectAt(off)
	if obj == nil || obj.kind != kind {
		return nil, nil
	}
	return obj, obj.storage.Load()
}

// shared executes the operations on a shared variable, each as one atomic operation. A shared variable is one word, so
// every operation on it can be atomic, and x++ from two threads never loses a step. The price is a locked instruction,
// some nanoseconds, instead of a plain one.
func (m *Machine) shared(in *Inst) Trap {
	obj := m.a.objectAt(in.V)
	if obj == nil || obj.kind != KindInt {
		return TrapIndex
	}
	p := &obj.desc[descWord]
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
		return TrapOp
	}
	return NoTrap
}

// sharedText reads or writes a shared text. A text has many words, which no atomic operation covers, so it has a
// version instead. Writers make the version odd while they write. Readers retry if it was odd or has changed
// (textcell.go). A writer that finds another one at work gives up and is counted as contended, because it might
// otherwise wait for a thread that has been killed.
func (m *Machine) sharedText(in *Inst) Trap {
	obj, st := m.storageOf(in.V, KindText)
	if st == nil {
		return TrapIndex
	}
	switch in.Op {
	case opcode.PushGVS:
		return m.pushCell(obj, st.cells[0])
	case opcode.PopGVS:
		p, cut, trap := m.popText()
		if trap == NoTrap {
			obj.storeText(st.cells[0], p, cut)
		}
		return trap
	}
	return TrapOp
}

// pushCell copies the text of an object's cell to the scratch memory.
func (m *Machine) pushCell(obj *object, cell []uint64) Trap {
	p := m.room(DefaultText + 8)
	if p == nil {
		return TrapText
	}
	n, cut := obj.loadText(cell, p)
	m.pushText(n, cut)
	return NoTrap
}

// array executes the operations on array elements; the index is on top of the stack. Arrays correspond to DProbes' lv
// and gv. DProbes shared them without any lock, and its bounds check for lv was off by one.
func (m *Machine) array(in *Inst) Trap {
	_, st := m.storageOf(in.V, KindArray)
	if st == nil {
		return TrapIndex
	}
	i := m.pop()
	if i >= uint64(len(st.cells[0])) {
		m.p1, m.p2 = uint64(in.A), i // A: the number of the array in the program, as Lower prepared it
		return TrapIndex
	}
	p := &st.cells[0][i]
	switch in.Op {
	case opcode.PushLV:
		m.push(atomic.LoadUint64(p))
	case opcode.PopLV:
		atomic.StoreUint64(p, m.pop())
	case opcode.AddLV:
		atomic.AddUint64(p, m.pop())
	default:
		return TrapOp
	}
	return NoTrap
}

// this executes the operations on the storage of a call. The storage belongs to the thread that runs the program. The
// engine allocates it when the function is entered and frees it after the function has returned (AllocThis). ctx.This
// is 0 if the probe was armed during the call: then enter never ran, and there is nothing to read.
func (m *Machine) this(in *Inst) Trap {
	size := uint64(8)
	off := 8 * uint64(in.A)
	if in.Op == opcode.PushThisS || in.Op == opcode.PopThisS {
		size, off = TextCell, uint64(in.A)
	}
	switch {
	case m.ctx.This == 0:
		return TrapThis
	// Everything is checked again here, because the offsets and This come from two sources. Subtracting from the length
	// cannot wrap; adding to This could.
	case off%8 != 0 || off+size > MaxThisBytes || m.ctx.This%8 != 0 || m.ctx.This > uint64(len(m.a.bytes))-off-size:
		return TrapIndex
	}
	words := m.a.words[(m.ctx.This+off)/8:][:size/8]
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
		return TrapOp
	}
	return NoTrap
}

// pushThisText copies a text of the call to the scratch memory. It writes each word as little-endian bytes, because
// other executors use that layout, whatever the byte order of this machine is.
func (m *Machine) pushThisText(words []uint64) Trap {
	n := min(int(words[0]&keyLenMask), DefaultText)
	p := m.room((n + 7) &^ 7)
	if p == nil {
		return TrapText
	}
	for i := 0; i < n; i += 8 {
		binary.LittleEndian.PutUint64(p[i:], words[1+i/8])
	}
	m.pushText(n, words[0]&keyHeaderCut != 0)
	return NoTrap
}

// popThisText stores the text on top of the stack. A text longer than DefaultText is cut and marked.
func (m *Machine) popThisText(words []uint64) Trap {
	p, cut, trap := m.popText()
	if trap != NoTrap {
		return trap
	}
	if len(p) > DefaultText {
		p, cut = p[:DefaultText], true
	}
	words[0] = keyHeader(len(p), cut)
	packBytes(words[1:], p)
	return NoTrap
}

// perThread executes the operations on this thread's value. Reading does not create a value. A per-thread variable is a
// table keyed by thread ID. A slot is pinned while it is used, so that DropThread, which runs when a thread ends, does
// not empty it under an operation on a recycled ID.
func (m *Machine) perThread(in *Inst) Trap {
	obj, st := m.storageOf(in.V, KindPerThread)
	if st == nil {
		return TrapIndex
	}
	key := [1]uint64{uint64(m.ctx.Tid)}
	if in.Op == opcode.PushPT {
		slot, ok := st.table.find(key[:], hashKey(key[:]))
		if !ok {
			m.push(uint64(st.Init))
			return NoTrap
		}
		m.push(atomic.LoadUint64(&st.table.cell(slot)[0]))
		st.table.unpin(slot)
		return NoTrap
	}
	v := m.pop()
	slot, got := obj.insert(st, key[:])
	if got > insertNew {
		// A full table is counted as loss and is not a program error: there are more threads than the table was
		// declared for.
		return NoTrap // dropped and counted
	}
	p, trap := &st.table.cell(slot)[0], NoTrap
	switch in.Op {
	case opcode.PopPT:
		atomic.StoreUint64(p, v)
	case opcode.AddPT:
		atomic.AddUint64(p, v)
	default:
		trap = TrapOp
	}
	st.table.unpin(slot)
	return trap
}

// buildKey executes the operations that append a part to the key. Keys are built in the machine and not on the stack:
// texts would need room there, and the verifier follows the kinds of the parts more easily if operations fix their
// order.
func (m keyOps) buildKey(in *Inst) Trap {
	switch in.Op {
	case opcode.KeyInt:
		if !m.key.addWord(m.pop()) {
			return TrapKey
		}
		return NoTrap
	case opcode.KeyText:
		return m.keyText(ValueKind(in.A))
	}
	return TrapOp
}

// useKey executes the operations that use the key. It leaves the key empty, also if the operation traps.
func (m keyOps) useKey(in *Inst) Trap {
	trap := m.keyed(in)
	m.key.reset()
	return trap
}

// keyText appends text, bytes or a stack to the key. A stack is stored with its process, because its addresses mean
// nothing without it.
func (m keyOps) keyText(kind ValueKind) Trap {
	p, cut, trap := m.popText()
	if trap != NoTrap {
		return trap
	}
	var ok bool
	switch kind.class() {
	case classStack:
		ok = m.key.addStack(p, cut, m.ctx.Thread.Field(FieldPid))
	case classText:
		ok = m.key.addText(p, cut)
	default:
		return TrapOp
	}
	if !ok {
		return TrapKey
	}
	return NoTrap
}

// keyed executes an operation on an object under the current key. The signature gives the kinds of the parts. It is
// compared for programs that Verify has not checked: a key of another shape could be byte for byte equal to a correct
// one.
func (m keyOps) keyed(in *Inst) Trap {
	obj := m.a.objectAt(in.V)
	if obj == nil || (in.Op == opcode.Agg) != (obj.kind >= KindCount) || in.Op != opcode.Agg && obj.kind != KindMap {
		return TrapIndex
	}
	st := obj.storage.Load()
	if st == nil {
		return m.useUnknown(in.Op)
	}
	if in.Op == opcode.Agg {
		return m.aggregate(obj, st)
	}
	if m.key.signature != st.shape.signature {
		return TrapKey
	}
	return m.useMap(in.Op, obj, st)
}

// useUnknown handles a map that no value was ever stored in, whose value type is therefore unknown. It contains no
// keys.
func (m keyOps) useUnknown(op opcode.Op) Trap {
	switch op {
	case opcode.MapGet, opcode.MapGetS, opcode.MapHas:
		m.push(0)
		return NoTrap
	case opcode.MapDel:
		return NoTrap
	}
	return TrapIndex
}

// aggregate adds the word on top of the stack to an aggregation. Without a shape there are no keys, and the cell is at
// a fixed place. This fast path matters for count() in hot functions.
func (m keyOps) aggregate(obj *object, st *storage) Trap {
	v := int64(m.pop())
	if st.shape == nil {
		if m.key.parts != 0 {
			return TrapKey
		}
		obj.addCell(st, v)
		return NoTrap
	}
	if st.Kind == KindSeries && !m.key.prepend(uint64(st.Interval(int64(m.ctx.Thread.Field(FieldTime))))) {
		return TrapKey
	}
	if m.key.signature != st.shape.signature {
		return TrapKey
	}
	slot, trap := m.slot(obj, st)
	if slot >= 0 {
		st.update(st.table.cell(slot), v)
		st.table.unpin(slot)
	}
	return trap
}

// slot pins the slot of the current key and creates it for a new key. It returns -1 if there is no slot; the value to
// be stored is then dropped. The object's policy (Full) decides what happens to a new key in a full table: it is
// dropped and counted, it evicts another key, or it is an error. offer handles the first two. Only the third returns a
// trap, which is counted as such.
func (m keyOps) slot(obj *object, st *storage) (int, Trap) {
	slot, got := obj.offer(st, m.key.key())
	switch {
	case got <= insertNew:
		return slot, NoTrap
	case got == insertFull && st.Full == FullError:
		return -1, TrapFull
	}
	return -1, NoTrap
}

// useMap executes an operation on a map under a key that fits the map.
func (m keyOps) useMap(op opcode.Op, obj *object, st *storage) Trap {
	text := op == opcode.MapGetS || op == opcode.MapSetS
	if op != opcode.MapHas && op != opcode.MapDel && text != st.isText() {
		return TrapIndex
	}
	switch op {
	case opcode.MapSet, opcode.MapSetS, opcode.MapAdd:
		return m.putMap(op, obj, st)
	case opcode.MapDel:
		st.table.remove(m.key.key(), hashKey(m.key.key()))
		return NoTrap
	}
	slot, ok := st.table.find(m.key.key(), hashKey(m.key.key()))
	if !ok {
		m.push(0) // also the reference of the empty text
		return NoTrap
	}
	trap := NoTrap
	switch op {
	case opcode.MapHas:
		m.push(1)
	case opcode.MapGet:
		m.push(atomic.LoadUint64(&st.table.cell(slot)[0]))
	case opcode.MapGetS:
		trap = m.pushCell(obj, st.table.cell(slot))
	default:
		trap = TrapOp
	}
	st.table.unpin(slot)
	return trap
}

// putMap sets or adds to the value under the current key. If opcode.MapAdd finds no room, it pushes the amount to be
// added, which would be the value if there were room. The value is popped before the slot is searched, so that the
// program continues with the same stack whether or not the map is full.
func (m keyOps) putMap(op opcode.Op, obj *object, st *storage) Trap {
	v := m.pop()
	text, ok := m.text(v)
	if op == opcode.MapSetS && !ok {
		return TrapText
	}
	slot, trap := m.slot(obj, st)
	if slot < 0 {
		if op == opcode.MapAdd {
			m.push(v)
		}
		return trap
	}
	cell := st.table.cell(slot)
	switch op {
	case opcode.MapSet:
		atomic.StoreUint64(&cell[0], v)
	case opcode.MapAdd:
		m.push(atomic.AddUint64(&cell[0], v))
	case opcode.MapSetS:
		obj.storeText(cell, text, Ref(v).Cut())
	}
	st.table.unpin(slot)
	return NoTrap
}
