package fallback

import (
	"bytes"
	"testing"
)

// TestLongOrig: an entry with all bytes that a jump displaces is read back as one, and Restore restores them all, the
// first one last.
func TestLongOrig(t *testing.T) {
	const addr = Size + 10
	orig := []byte{0x55, 0x48, 0x89, 0xe5, 0x53}
	mem := buffer{bytes: make([]byte, Size+100)}
	var table Table
	table.Record(&mem, 0, addr, orig[:1], []byte{0xcc}, 0)
	table.Record(&mem, 0, addr, orig, []byte{0xcc}, 0)
	for _, read := range []Table{table, table.Clone(), ReadTable(&mem, 0, Head{Count: 1})} {
		if got, trap, ok := read.Lookup(addr); !ok || got != string(orig) || trap != "\xcc" {
			t.Errorf("read back: %x, %x, %v", got, trap, ok)
		}
	}
	copy(mem.bytes[addr:], []byte{0xcc, 1, 2, 3, 4}) // killed while a jump was written
	watched := &order{buffer: mem, first: addr}
	if restored := Restore(watched, 0, Head{Count: 1}, func(uint64) bool { return false }); len(restored) != 1 || restored[0] != addr {
		t.Errorf("restored %#x", restored)
	}
	if !bytes.Equal(mem.bytes[addr:][:5], orig) || !watched.last {
		t.Errorf("there is %x, and the first byte was written last: %v", mem.bytes[addr:][:5], watched.last)
	}
	copy(mem.bytes[addr:], []byte{0xe9, 1, 2, 3, 4}) // a jump
	if restored := Restore(&mem, 0, Head{Count: 1}, func(uint64) bool { return false }); len(restored) != 0 {
		t.Errorf("restored the jump at %#x", restored)
	}
}

// TestShortOrig: the same of the two bytes of a short jump.
func TestShortOrig(t *testing.T) {
	const addr = Size + 10
	mem := buffer{bytes: make([]byte, Size+100)}
	var table Table
	table.Record(&mem, 0, addr, []byte{0x89, 0xf8}, []byte{0xcc}, 0)
	for _, read := range []Table{table, table.Clone(), ReadTable(&mem, 0, Head{Count: 1})} {
		if got, trap, ok := read.Lookup(addr); !ok || got != "\x89\xf8" || trap != "\xcc" {
			t.Errorf("read back: %x, %x, %v", got, trap, ok)
		}
	}
	copy(mem.bytes[addr:], []byte{0xcc, 1, 2}) // killed while a jump was written; another place follows
	watched := &order{buffer: mem, first: addr}
	if restored := Restore(watched, 0, Head{Count: 1}, func(uint64) bool { return false }); len(restored) != 1 || restored[0] != addr {
		t.Errorf("restored %#x", restored)
	}
	if got := mem.bytes[addr:][:3]; !bytes.Equal(got, []byte{0x89, 0xf8, 2}) || !watched.last {
		t.Errorf("there is %x, and the first byte was written last: %v", got, watched.last)
	}
}

// order is memory that notes whether the byte at an address was written after all others.
type order struct {
	buffer
	first uint64
	last  bool
}

func (o *order) Poke(addr uint64, p []byte, stopped int) error {
	o.last = addr == o.first && len(p) == 1
	return o.buffer.Poke(addr, p, stopped)
}
