package fallback

import (
	"bytes"
	"testing"
)

// buffer is memory from address 0 on; it counts writes.
type buffer struct {
	bytes  []byte
	writes int
}

func (b *buffer) Peek(addr uint64, p []byte) error { copy(p, b.bytes[addr:]); return nil }

func (b *buffer) Poke(addr uint64, p []byte, _ int) error {
	copy(b.bytes[addr:], p)
	b.writes++
	return nil
}

// TestRecordAll: a table that is filled at once is what one is that is filled entry by entry, also where entries are
// free or known and where there is no room, and takes two writes.
func TestRecordAll(t *testing.T) {
	many := func(from, n int) (list []Displaced) {
		for i := range n {
			list = append(list, Displaced{uint64(from + i), []byte{byte(i)}, []byte{0xcc}})
		}
		return list
	}
	for name, c := range map[string]struct {
		before []Displaced
		forget []uint64
		add    []Displaced
		writes int
	}{
		"empty":   {add: many(100, 1000), writes: 2},
		"more":    {before: many(100, 10), add: many(200, 50), writes: 2},
		"known":   {before: many(100, 10), add: many(105, 50), writes: 2 + 6}, // the last entry is followed by the number
		"free":    {before: many(100, 10), forget: []uint64{103, 107}, add: many(200, 50), writes: 2 + 2},
		"no room": {before: many(100, Entries-10), add: many(Entries+1000, 50), writes: 2},
		"nothing": {},
	} {
		single, whole := buffer{bytes: make([]byte, Size)}, buffer{bytes: make([]byte, Size)}
		var one, all Table
		for _, d := range c.before {
			one.Record(&single, 0, d.Addr, d.Orig, d.Trap, 0)
			all.Record(&whole, 0, d.Addr, d.Orig, d.Trap, 0)
		}
		for _, addr := range c.forget {
			one.Forget(&single, 0, addr)
			all.Forget(&whole, 0, addr)
		}
		whole.writes = 0
		for _, d := range c.add {
			one.Record(&single, 0, d.Addr, d.Orig, d.Trap, 0)
		}
		all.RecordAll(&whole, 0, c.add, 0)
		if !bytes.Equal(single.bytes, whole.bytes) {
			t.Errorf("%s: the table is another one", name)
		}
		if len(one.index) != len(all.index) || len(one.entry) != len(all.entry) {
			t.Errorf("%s: %d addresses in %d entries, not %d in %d", name, len(all.index), len(all.entry), len(one.index), len(one.entry))
		}
		if whole.writes > c.writes {
			t.Errorf("%s: %d writes, not %d", name, whole.writes, c.writes)
		}
	}
}

// TestRestoreLeavesData: the code of an entry may have been unmapped since, and its addresses hold data.
func TestRestoreLeavesData(t *testing.T) {
	mem := buffer{bytes: make([]byte, Size+100)}
	var table Table
	code, data := uint64(Size+10), uint64(Size+20)
	table.Record(&mem, 0, code, []byte{0x55}, []byte{0xcc}, 0)
	table.Record(&mem, 0, data, []byte{0x55}, []byte{0xcc}, 0)
	mem.bytes[code], mem.bytes[data] = 0xcc, 0xcc
	restored := Restore(&mem, 0, Head{Count: 2}, func(addr uint64) bool { return addr == data })
	if len(restored) != 1 || restored[0] != code || mem.bytes[code] != 0x55 || mem.bytes[data] != 0xcc {
		t.Errorf("restored %#x: code is %#x, data %#x", restored, mem.bytes[code], mem.bytes[data])
	}
}
