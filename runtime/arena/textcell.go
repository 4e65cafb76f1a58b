package arena

import (
	"encoding/binary"
	"sync/atomic"

	"gotap/runtime/value"
)

// A text cell holds text that any thread may read and replace:
//
//	word 0   version: odd while a thread replaces the text
//	word 1   length | cut<<32
//	word 2…  the bytes, low byte first
//
// A writer makes the version odd with a compare-and-swap, stores, and makes it even again. A reader copies the words
// between two loads of the version and starts again if they differ or are odd. Waiting is bounded (see backoff): at the
// limit the writer's text is dropped, or the reader gets none. Only a writer that died in between can cause that.
const (
	textCellWords = 2 + value.DefaultText/8

	// TextCell is the size in bytes of a text in the storage of a call (opcode.PushThisS), which is
	// private to one thread and has no version: a word with length | cut<<32, then DefaultText
	// bytes.
	TextCell = 8 + value.DefaultText
)

// storeText replaces the text of a cell. A text longer than DefaultText is cut and marked.
func storeText(cell []uint64, text []byte, cut bool) bool {
	if len(text) > value.DefaultText {
		text, cut = text[:value.DefaultText], true
	}
	version, ok := lockText(&cell[0])
	if !ok {
		return false
	}
	atomic.StoreUint64(&cell[1], value.HeaderWord(len(text), cut))
	for i := 2; len(text) > 0; i++ {
		if len(text) < 8 {
			atomic.StoreUint64(&cell[i], value.LastWord(text))
			break
		}
		atomic.StoreUint64(&cell[i], binary.LittleEndian.Uint64(text))
		text = text[8:]
	}
	atomic.StoreUint64(&cell[0], version+2)
	return true
}

// StoreText is storeText for a cell of the object. If another thread keeps the text busy, the text stays unchanged, and
// this is counted.
func (st *Storage) StoreText(cell []uint64, text []byte, cut bool) bool {
	ok := storeText(cell, text, cut)
	if !ok {
		atomic.AddUint64(&st.obj.desc[descContended], 1)
	}
	return ok
}

// LoadText is loadText for a cell of the object. If another thread keeps the text busy, it reads as empty, and this is
// counted.
func (st *Storage) LoadText(cell []uint64, p []byte) (length int, cut bool) {
	length, cut, ok := loadText(cell, p)
	if !ok {
		atomic.AddUint64(&st.obj.desc[descContended], 1)
	}
	return length, cut
}

// lockText makes an even version odd and returns the even one.
func lockText(p *uint64) (version uint64, ok bool) {
	for b := (backoff{}); ; {
		v := atomic.LoadUint64(p)
		if v&1 == 0 && atomic.CompareAndSwapUint64(p, v, v+1) {
			return v, true
		}
		if !b.wait() {
			return 0, false
		}
	}
}

// loadText copies the text of a cell to p, which has room for DefaultText bytes and 7 more.
func loadText(cell []uint64, p []byte) (length int, cut, ok bool) {
	for b := (backoff{}); ; {
		before := atomic.LoadUint64(&cell[0])
		if before&1 == 0 {
			length, cut = copyText(cell, p)
			if atomic.LoadUint64(&cell[0]) == before {
				return length, cut, true
			}
		}
		if !b.wait() {
			return 0, false, false
		}
	}
}

// copyText copies the current text, which may be torn.
func copyText(cell []uint64, p []byte) (length int, cut bool) {
	header := atomic.LoadUint64(&cell[1])
	length = min(int(header&value.HeaderLength), value.DefaultText)
	for i := 0; i < length; i += 8 {
		binary.LittleEndian.PutUint64(p[i:], atomic.LoadUint64(&cell[2+i/8]))
	}
	return length, header&value.HeaderCut != 0
}
