package arena

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"

	"gotap/runtime/key"
	"gotap/runtime/object"
	"gotap/runtime/snapshot"
	"gotap/runtime/value"
)

// Handle is the host's access to one object. All methods may be called from any goroutine while programs run.
type Handle struct {
	a   *Arena
	obj *Instance
}

// Handle returns the access to an object, or nil for an unknown ID.
func (a *Arena) Handle(id int) *Handle {
	obj := a.objectByID(id)
	if obj == nil {
		return nil
	}
	return &Handle{a, obj}
}

// Object returns the object as declared and refined.
func (h *Handle) Object() object.Object { return *h.obj.decl.Load() }

// ErrFull reports that there is no room for a new key. If the object drops such keys (FullDrop), the drop is also
// counted.
var ErrFull = errors.New("it is full")

var (
	errNoKey     = errors.New("the key does not fit")
	errContended = errors.New("other threads keep it busy")
	errReadOnly  = errors.New("it cannot be set")
	errNoValue   = errors.New("the value does not fit")
)

// Get returns the value of the object for a key; objects without keys take none. ok is false if nothing was ever stored
// there. The result is a copy of one moment: an average never has the sum of one moment and the count of another. Only
// under constant writes to one key may the words be a hit apart, see table.steady.
func (h *Handle) Get(key ...value.Value) (snapshot.Data, bool) {
	if h.obj.kind == object.KindInt {
		return snapshot.Data{Kind: object.KindInt, Int: int64(atomic.LoadUint64(&h.obj.desc[descWord]))}, true
	}
	st := h.obj.storage.Load()
	switch {
	case st == nil, st.Kind == object.KindTrail, st.Kind == object.KindRecorder:
		return snapshot.Data{}, false
	case st.Kind == object.KindArray:
		return st.element(key)
	case st.shape == nil:
		return h.getCell(st, len(key))
	}
	slot, ok := st.find(key)
	if !ok {
		return snapshot.Data{}, false
	}
	defer st.table.unpin(slot)
	return h.slotData(st, slot)
}

// slotData reads the cell of a pinned slot.
func (h *Handle) slotData(st *Storage, slot int) (snapshot.Data, bool) {
	cell := st.table.cell(slot)
	if st.IsText() {
		return st.textData(cell), true
	}
	var words [object.HistBuckets]uint64
	to := words[:]
	// Histograms of whole powers fit into the array on the stack. Others may have more buckets.
	if len(cell) > len(to) {
		to = make([]uint64, len(cell))
	}
	to = to[:len(cell)]
	var c copied
	st.table.steady(slot, func() { c = st.copy(cell, to) })
	return st.data(c)
}

// IsText reports whether the cells hold text.
func (st *Storage) IsText() bool {
	return st.Kind == object.KindText || st.Kind == object.KindMap && st.Value.Class() == value.ClassText
}

// textData reads a text cell.
func (st *Storage) textData(cell []uint64) snapshot.Data {
	var p [value.DefaultText + 8]byte
	n, cut := st.LoadText(cell, p[:])
	return snapshot.Data{Kind: st.Kind, Text: string(p[:n]), Cut: cut, IsText: true}
}

// getCell reads an object that has no keys.
func (h *Handle) getCell(st *Storage, parts int) (snapshot.Data, bool) {
	if parts != 0 {
		return snapshot.Data{}, false
	}
	if st.IsText() {
		return st.textData(st.cells[0]), true
	}
	return st.data(h.copyCell(st, false))
}

// copyCell returns a copy of the cell of an object that has no keys, and empties the cell if take is set. Banked cells
// are read while no program adds to them. Unless take is set, the values read are then added to the other bank. So no
// program's addition is lost or counted twice meanwhile.
func (h *Handle) copyCell(st *Storage, take bool) copied {
	h.obj.host.Lock()
	defer h.obj.host.Unlock()
	cell := st.cells[0]
	words := make([]uint64, len(cell))
	if !st.banked {
		if st.share != nil {
			st.share.Collect()
		}
		for i := range cell {
			if take {
				words[i] = atomic.SwapUint64(&cell[i], 0)
			} else {
				words[i] = atomic.LoadUint64(&cell[i])
			}
		}
		return copied{words: words}
	}
	bank := h.obj.switchBank()
	c := st.copy(st.cells[bank], words)
	st.fresh(st.cells[bank])
	if !take {
		st.merge(st.cells[1-bank], c)
	}
	return c
}

// Set sets the value of a variable or of a key of a map. Programs may change it again at once: Set is one store among
// theirs, in some order.
func (h *Handle) Set(v value.Value, key ...value.Value) error {
	return h.wrap("set", h.set(v, key))
}

// set is Set, but its error does not name the object.
func (h *Handle) set(v value.Value, key []value.Value) error {
	if h.obj.kind == object.KindInt {
		atomic.StoreUint64(&h.obj.desc[descWord], value.ToWord(value.KindInt, v))
		return nil
	}
	st, err := h.open(key, v.Kind)
	if err != nil {
		return err
	}
	switch {
	case st.Kind == object.KindText:
		return st.setText(st.cells[0], v)
	case st.Kind == object.KindArray:
		return st.setElement(v, key)
	case st.Kind != object.KindMap:
		return errReadOnly
	case v.Kind.Class() != st.Value.Class(), v.Kind == value.KindFloat && st.Value != value.KindFloat:
		return fmt.Errorf("%w: it holds %v", errNoValue, st.Value)
	}
	slot, err := h.insert(st, key)
	if err != nil {
		return err
	}
	defer st.table.unpin(slot)
	if st.IsText() {
		return st.setText(st.table.cell(slot), v)
	}
	atomic.StoreUint64(&st.table.cell(slot)[0], value.ToWord(st.Value, v))
	return nil
}

// setText replaces the text of a cell.
func (st *Storage) setText(cell []uint64, v value.Value) error {
	if !st.StoreText(cell, []byte(v.Text), v.Cut) {
		return errContended
	}
	return nil
}

// setElement replaces a variable of an array.
func (st *Storage) setElement(v value.Value, key []value.Value) error {
	if len(key) != 1 || key[0].Int < 0 || key[0].Int >= int64(len(st.cells[0])) {
		return errNoKey
	}
	atomic.StoreUint64(&st.cells[0][key[0].Int], value.ToWord(value.KindInt, v))
	return nil
}

// Add adds to an aggregation, a variable, or the number under a key of a map.
func (h *Handle) Add(n int64, key ...value.Value) error {
	return h.wrap("add to", h.addTo(n, key))
}

// addTo is Add, but its error does not name the object.
func (h *Handle) addTo(n int64, key []value.Value) error {
	if h.obj.kind == object.KindInt {
		add(&h.obj.desc[descWord], n)
		return nil
	}
	return h.change(key, func(st *Storage) { st.AddCell(n) }, func(st *Storage, slot int) { st.addSlot(slot, n) })
}

// AddFloat adds a float to an aggregation.
func (h *Handle) AddFloat(f float64, key ...value.Value) error {
	if h.obj.kind < object.KindCount {
		return h.wrap("add to", errNoValue)
	}
	return h.wrap("add to", h.change(key, func(st *Storage) { st.AddFloat(f) }, func(st *Storage, slot int) { st.UpdateFloat(st.table.cell(slot), f) }))
}

// change changes the only cell of an aggregation, or the slot of a key.
func (h *Handle) change(key []value.Value, only func(*Storage), at func(st *Storage, slot int)) error {
	st, err := h.open(key, value.KindInt)
	if err != nil {
		return err
	}
	if st.Kind < object.KindMap || st.IsText() {
		return errNoValue
	}
	if st.shape == nil {
		only(st)
		return nil
	}
	slot, err := h.insert(st, key)
	if err != nil {
		return err
	}
	defer st.table.unpin(slot)
	at(st, slot)
	return nil
}

// open returns the storage. If this is the first use, it determines the shape of the key.
func (h *Handle) open(key []value.Value, v value.Kind) (*Storage, error) {
	st := h.obj.storage.Load()
	if st == nil {
		kinds := make([]value.Kind, len(key))
		for i, v := range key {
			kinds[i] = v.Kind
		}
		if err := h.a.Refine(h.obj.id, kinds, v); err != nil {
			return nil, err
		}
		st = h.obj.storage.Load()
	}
	if st == nil || st.shape == nil && len(key) != 0 && st.Kind != object.KindArray {
		return nil, errNoKey
	}
	return st, nil
}

// insert pins the slot of a key given by the host. It creates the slot for a new key.
func (h *Handle) insert(st *Storage, k []value.Value) (int, error) {
	var b key.Buffer
	if !st.build(&b, k) {
		return 0, errNoKey
	}
	slot, got := st.offer(b.Words())
	switch got {
	case insertFull:
		return 0, ErrFull
	case insertBusy:
		return 0, errContended
	}
	return slot, nil
}

func (h *Handle) wrap(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("cannot %s %s: %w", what, h.obj.decl.Load().Label(), err)
}

// Delete deletes a key and reports whether it existed. A concurrent addition by another thread counts either as before
// the deletion, and is deleted too, or as after it, and creates the key again.
func (h *Handle) Delete(key ...value.Value) bool {
	st := h.obj.storage.Load()
	if st == nil || st.shape == nil {
		return false
	}
	slot, ok := st.find(key)
	if !ok {
		return false
	}
	defer st.table.unpin(slot)
	return st.table.kill(slot)
}

// Clear empties the object. Variables are reset to their initial value.
func (h *Handle) Clear() {
	if h.obj.kind == object.KindInt {
		atomic.StoreUint64(&h.obj.desc[descWord], uint64(h.obj.decl.Load().Init))
		return
	}
	h.Take()
}

// Take returns the contents and empties the object. A concurrent addition is either in the result or left for the next
// Take. None is lost and none is seen twice.
func (h *Handle) Take() snapshot.Snapshot { return h.collect(true) }

// Entries returns the contents.
func (h *Handle) Entries() snapshot.Snapshot { return h.collect(false) }

// collect reads everything, and empties the object if take is set.
func (h *Handle) collect(take bool) snapshot.Snapshot {
	s := snapshot.Snapshot{Object: *h.obj.decl.Load()}
	st := h.obj.storage.Load()
	switch {
	case h.obj.kind == object.KindInt:
		d, _ := h.Get()
		s.Entries = []snapshot.Entry{{Data: d}}
		if take {
			atomic.StoreUint64(&h.obj.desc[descWord], uint64(s.Object.Init))
		}
	case st == nil:
	case st.Kind == object.KindTrail, st.Kind == object.KindRecorder:
		if take {
			h.obj.forgetAll(st)
		}
	case st.Kind == object.KindArray:
		s.Entries = st.elements(take)
	case st.shape == nil:
		s.Entries = h.collectCell(st, take)
	default:
		s.Entries = h.collectTable(st, take)
	}
	s.Sort()
	return s
}

// collectCell reads an object that has no keys.
func (h *Handle) collectCell(st *Storage, take bool) []snapshot.Entry {
	if st.IsText() {
		d := st.textData(st.cells[0])
		if take {
			st.StoreText(st.cells[0], []byte(st.Text), false)
		}
		return []snapshot.Entry{{Data: d}}
	}
	d, ok := st.data(h.copyCell(st, take))
	if !ok {
		return nil
	}
	return []snapshot.Entry{{Data: d}}
}

// elements reads the variables of an array.
func (st *Storage) elements(take bool) []snapshot.Entry {
	list := make([]snapshot.Entry, len(st.cells[0]))
	for i := range list {
		p := &st.cells[0][i]
		n := atomic.LoadUint64(p)
		if take {
			n = atomic.SwapUint64(p, 0)
		}
		list[i] = snapshot.Entry{Key: []value.Value{value.Int(int64(i))}, Data: snapshot.Data{Kind: object.KindArray, Int: int64(n)}}
	}
	return list
}

// collectTable walks the slots. A key inserted meanwhile may or may not be among the entries. A key that has been taken
// and inserted again in a later slot stays for the next call, so a key is never among the entries twice.
func (h *Handle) collectTable(st *Storage, take bool) []snapshot.Entry {
	st.keyShare.Collect()
	var list []snapshot.Entry
	t := &st.table
	seen, alive := map[string]bool{}, true
	for slot := range t.slots() {
		if atomic.LoadUint64(t.state(slot))&statusMask != slotFull || !t.pinAny(slot) {
			continue
		}
		id := keyText(t.key(slot))
		if seen[id] || take && !t.kill(slot) {
			t.unpin(slot)
			continue
		}
		seen[id] = true
		if take && alive { // a thread that has died keeps one slot; what other processes write may keep all of them
			alive = t.settle(slot)
		}
		key := st.shape.Decode(t.key(slot))
		if d, ok := h.slotData(st, slot); ok || st.Kind == object.KindMap {
			list = append(list, snapshot.Entry{Key: key, Data: d})
		}
		t.unpin(slot)
	}
	return list
}

// keyText returns the words of a key as a string, for look-ups.
func keyText(words []uint64) string {
	p := make([]byte, 0, 8*len(words))
	for _, w := range words {
		p = binary.NativeEndian.AppendUint64(p, w)
	}
	return string(p)
}

// Len returns the number of keys. An object without keys has length 1 if it holds anything.
func (h *Handle) Len() int {
	st := h.obj.storage.Load()
	if st != nil && st.shape != nil {
		st.keyShare.Collect()
		return int(atomic.LoadUint64(&h.obj.desc[descUsed]))
	}
	return len(h.Entries().Entries)
}

// CopyFrom copies the contents of an object of an earlier script into this one, which has the same name and kind. What
// was added to this one already stays. If keys or values differ, CopyFrom returns an error and copies nothing.
func (h *Handle) CopyFrom(old *Handle) error {
	to, from := h.Object(), old.Object()
	if to.Kind != from.Kind || to.Lo != from.Lo || to.Hi != from.Hi || to.Step != from.Step || to.Bits != from.Bits || to.Of != from.Of || to.Kind == object.KindSeries && to.Size != from.Size {
		return fmt.Errorf("cannot keep the values of %s: it was %s", to.Label(), from.Label())
	}
	if from.Kind == object.KindInt {
		d, _ := old.Get()
		return h.Set(value.Int(d.Int))
	}
	src := old.obj.storage.Load()
	if src == nil || from.Kind == object.KindTrail || from.Kind == object.KindRecorder {
		return nil // records name programs, and the programs have changed
	}
	if src.shape != nil && from.Kind != object.KindPerThread || src.shape == nil && from.Kind > object.KindMap {
		var kinds []value.Kind
		if src.shape != nil {
			kinds = src.shape.Kinds
		}
		if err := h.a.Refine(h.obj.id, kinds, src.Value); err != nil {
			return fmt.Errorf("cannot keep the values of %s: %w", to.Label(), err)
		}
	}
	h.copyCells(h.obj.storage.Load(), src, old)
	return nil
}

// copyCells copies between storages of the same shape.
func (h *Handle) copyCells(dst, src *Storage, old *Handle) {
	switch {
	case src.Kind == object.KindText:
		d := src.textData(src.cells[0])
		dst.StoreText(dst.cells[0], []byte(d.Text), d.Cut)
	case src.Kind == object.KindArray:
		for i := range min(len(dst.cells[0]), len(src.cells[0])) {
			atomic.StoreUint64(&dst.cells[0][i], atomic.LoadUint64(&src.cells[0][i]))
		}
	case src.shape == nil:
		dst.mergeCell(old.copyCell(src, false))
	default:
		h.copyTable(dst, src, old)
	}
}

// copyTable merges slot by slot. A key that finds no room is counted like any other such key.
func (h *Handle) copyTable(dst, src *Storage, old *Handle) {
	src.keyShare.Collect()
	t := &src.table
	words := make([]uint64, src.cellWords())
	for from := range t.slots() {
		if !t.pinAny(from) {
			continue
		}
		key := src.shape.Trim(t.key(from))
		if slot, got := dst.insert(key); got <= insertNew {
			cell := dst.table.cell(slot)
			if src.IsText() {
				d := src.textData(t.cell(from))
				dst.StoreText(cell, []byte(d.Text), d.Cut)
			} else {
				var c copied
				t.steady(from, func() { c = src.copy(t.cell(from), words) })
				dst.copySlot(cell, c)
			}
			dst.table.unpin(slot)
		}
		t.unpin(from)
	}
}

// copySlot merges aggregations and replaces values.
func (st *Storage) copySlot(cell []uint64, c copied) {
	if st.Kind == object.KindMap || st.Kind == object.KindPerThread {
		atomic.StoreUint64(&cell[0], c.words[0])
		return
	}
	st.merge(cell, c)
}
