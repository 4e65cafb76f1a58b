package runtime

import (
	"strings"
	"sync/atomic"
)

// element reads a variable of an array, whose key is its index.
func (st *storage) element(key []Value) (Data, bool) {
	if len(key) != 1 || key[0].Int < 0 || key[0].Int >= int64(len(st.cells[0])) {
		return Data{}, false
	}
	return Data{Kind: KindArray, Int: int64(atomic.LoadUint64(&st.cells[0][key[0].Int]))}, true
}

// find pins the slot of a key given by the host. A text that ends in the mark of a cut is also
// searched as cut text, so that keys can be given as they print. Pinning keeps the slot from
// being emptied while it is read; who calls find unpins.
func (st *storage) find(key []Value) (slot int, ok bool) {
	var b keyBuffer
	if !st.build(&b, key) {
		return 0, false
	}
	if slot, ok = st.table.find(b.key(), hashKey(b.key())); ok {
		return slot, true
	}
	cut, any := cutTexts(key)
	if !any || !st.build(&b, cut) {
		return 0, false
	}
	return st.table.find(b.key(), hashKey(b.key()))
}

// build encodes a key of the host; false when it does not fit the shape.
func (st *storage) build(b *keyBuffer, key []Value) bool {
	b.reset()
	if len(key) != len(st.shape.kinds) {
		return false
	}
	for i, v := range key {
		if !b.addValue(st.shape.kinds[i], v) {
			return false
		}
	}
	return true
}

// cutTexts reads the mark at the end of texts as what it stands for.
func cutTexts(key []Value) (cut []Value, any bool) {
	cut = append(cut, key...)
	for i, v := range cut {
		if text, ok := strings.CutSuffix(v.Text, Cutmark); ok {
			cut[i].Text, cut[i].Cut, any = text, true, true
		}
	}
	return cut, any
}
