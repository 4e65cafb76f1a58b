package arena

import (
	"strings"
	"sync/atomic"

	"gotap/runtime/key"
	"gotap/runtime/object"
	"gotap/runtime/snapshot"
	"gotap/runtime/value"
)

// element reads a variable of an array, whose key is its index.
func (st *Storage) element(key []value.Value) (snapshot.Data, bool) {
	if len(key) != 1 || key[0].Int < 0 || key[0].Int >= int64(len(st.cells[0])) {
		return snapshot.Data{}, false
	}
	return snapshot.Data{Kind: object.KindArray, Int: int64(atomic.LoadUint64(&st.cells[0][key[0].Int]))}, true
}

// find pins the slot of a key given by the host. A text that ends in the mark of a cut is also searched as cut text, so
// that keys can be given as they print. What threads have added under the key is collected before. Pinning keeps the
// slot from being emptied while it is read; who calls find unpins.
func (st *Storage) find(k []value.Value) (slot int, ok bool) {
	var b key.Buffer
	if !st.build(&b, k) {
		return 0, false
	}
	st.keyShare.CollectKey(b.Words())
	if slot, ok = st.table.find(b.Words(), key.Hash(b.Words())); ok {
		return slot, true
	}
	cut, any := cutTexts(k)
	if !any || !st.build(&b, cut) {
		return 0, false
	}
	return st.table.find(b.Words(), key.Hash(b.Words()))
}

// build encodes a key of the host; false when it does not fit the shape.
func (st *Storage) build(b *key.Buffer, key []value.Value) bool {
	b.Reset()
	if len(key) != len(st.shape.Kinds) {
		return false
	}
	for i, v := range key {
		if !b.AddValue(st.shape.Kinds[i], v) {
			return false
		}
	}
	return true
}

// cutTexts reads the mark at the end of texts as what it stands for.
func cutTexts(key []value.Value) (cut []value.Value, any bool) {
	cut = append(cut, key...)
	for i, v := range cut {
		if text, ok := strings.CutSuffix(v.Text, value.Cutmark); ok {
			cut[i].Text, cut[i].Cut, any = text, true, true
		}
	}
	return cut, any
}
