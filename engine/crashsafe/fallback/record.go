package fallback

// Displaced is a breakpoint and the bytes that it displaces.
type Displaced struct {
	Addr       uint64
	Orig, Trap []byte
}

// RecordAll is Record for many breakpoints. New entries are adjacent and are written together before their number
// is: the handler reads no incomplete entry. No two breakpoints are at the same address.
func (t *Table) RecordAll(mem Memory, base uint64, list []Displaced, stopped int) {
	var fresh []Displaced
	for _, d := range list {
		_, known := t.index[d.Addr]
		switch {
		case known || len(t.free) > 0:
			t.Record(mem, base, d.Addr, d.Orig, d.Trap, stopped)
		case len(t.entry)+len(fresh) < Entries:
			fresh = append(fresh, d)
		}
	}
	if len(fresh) == 0 {
		return
	}
	if t.index == nil {
		t.index = map[uint64]int{}
	}
	first := len(t.entry)
	entries := make([]byte, 0, len(fresh)*EntrySize)
	for i, d := range fresh {
		_, entry := Entry(base, first+i, d.Addr, d.Orig, d.Trap)
		entries = append(entries, entry[:]...)
		t.index[d.Addr] = len(t.entry)
		t.entry = append(t.entry, displaced{string(d.Orig), string(d.Trap)})
	}
	at, _ := Entry(base, first, 0, nil, nil)
	mem.Poke(at, entries, stopped)
	at, count := Count(base, len(t.entry))
	mem.Poke(at, count, stopped)
}
