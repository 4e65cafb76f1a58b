package fallback

import (
	"bytes"
	"maps"
	"slices"
)

// Memory is a target's memory. Poke writes regardless of page protection, through a stopped thread if the kernel
// needs one (stopped is 0 if there is none).
type Memory interface {
	Peek(addr uint64, p []byte) error
	Poke(addr uint64, p []byte, stopped int) error
}

// Table is the contents of the handler's table of breakpoints. An entry is written before its breakpoint is
// planted, and stays when the breakpoint is removed; an entry without a breakpoint has no effect. The zero value is
// an empty table.
type Table struct {
	index map[uint64]int
	entry []displaced
	free  []int
}

// displaced is an entry without its address.
type displaced struct{ orig, trap string }

// Record ensures that a breakpoint, trap, in place of orig at addr is in the table of the region at base. It does
// nothing if the table is full (Entries).
func (t *Table) Record(mem Memory, base, addr uint64, orig, trap []byte, stopped int) {
	i, known := t.index[addr]
	what := displaced{string(orig), string(trap)}
	if known && t.entry[i] == what {
		return
	}
	if !known {
		if i = t.take(); i < 0 {
			return
		}
	}
	if t.index == nil {
		t.index = map[uint64]int{}
	}
	t.index[addr], t.entry[i] = i, what
	at, entry := Entry(base, i, addr, orig, trap)
	mem.Poke(at, entry[:], stopped)
	if i == len(t.entry)-1 {
		at, count := Count(base, len(t.entry))
		mem.Poke(at, count, stopped)
	}
}

// Lookup returns what the breakpoint at an address displaces, and the breakpoint, if there is an entry for it.
func (t *Table) Lookup(addr uint64) (orig, trap string, ok bool) {
	i, ok := t.index[addr]
	if !ok {
		return "", "", false
	}
	return t.entry[i].orig, t.entry[i].trap, true
}

// ReadTable reads the table of a region that an earlier session left.
func ReadTable(mem Memory, base uint64, head Head) Table {
	p := make([]byte, head.Count*EntrySize)
	t := Table{index: map[uint64]int{}}
	if mem.Peek(base+TableAt, p) != nil {
		return Table{}
	}
	for ; len(p) > 0; p = p[EntrySize:] {
		addr, orig, trap := ParseEntry(p)
		if addr == 0 {
			t.free = append(t.free, len(t.entry))
		} else {
			t.index[addr] = len(t.entry)
		}
		t.entry = append(t.entry, displaced{string(orig), string(trap)})
	}
	return t
}

// take returns the index of a free entry, or -1 if there is none.
func (t *Table) take() int {
	if n := len(t.free); n > 0 {
		i := t.free[n-1]
		t.free = t.free[:n-1]
		return i
	}
	if len(t.entry) == Entries {
		return -1
	}
	t.entry = append(t.entry, displaced{})
	return len(t.entry) - 1
}

// Forget removes the entry of an address whose memory no longer exists.
func (t *Table) Forget(mem Memory, base, addr uint64) {
	i, known := t.index[addr]
	if !known {
		return
	}
	delete(t.index, addr)
	t.free = append(t.free, i)
	at, entry := Entry(base, i, 0, nil, nil)
	mem.Poke(at, entry[:], 0)
}

// Clone returns the table for a forked child, whose memory is a copy.
func (t *Table) Clone() Table {
	return Table{maps.Clone(t.index), slices.Clone(t.entry), slices.Clone(t.free)}
}

// Check makes the region in a forked child agree with the copy of its parent's table; word is the size of an
// address. The child's memory is that at the moment of the fork, and the parent's may have changed since then:
// entries may be missing, or the whole region; there reports whether the region exists.
func (t *Table) Check(mem Memory, base uint64, word int) (there bool) {
	head, table := make([]byte, HeadSize), make([]byte, len(t.entry)*EntrySize)
	if mem.Peek(base, head) != nil || mem.Peek(base+TableAt, table) != nil {
		return false
	}
	if _, ok := ParseHead(head, word); !ok {
		return false
	}
	for addr, i := range t.index {
		at, entry := Entry(base, i, addr, []byte(t.entry[i].orig), []byte(t.entry[i].trap))
		if !bytes.Equal(table[i*EntrySize:][:EntrySize], entry[:]) {
			mem.Poke(at, entry[:], 0)
		}
	}
	at, count := Count(base, len(t.entry))
	mem.Poke(at, count, 0)
	return true
}

// Rewrite writes what a breakpoint of n bytes displaces: the bytes behind it first, which no thread runs while it is
// there.
func Rewrite(mem Memory, addr uint64, orig []byte, n, stopped int) error {
	if len(orig) > n {
		if err := mem.Poke(addr+uint64(n), orig[n:], stopped); err != nil {
			return err
		}
	}
	return mem.Poke(addr, orig[:n], stopped)
}

// Restore restores the instructions in the table of a region that still have breakpoints, and returns their addresses,
// except those in the region itself. It leaves alone addresses that isData reports to be data: the code there was
// unmapped since, and a byte that looks like a breakpoint is the program's own. It begins with the last entry, as the
// handlers do, because the first entries are the engine's own breakpoints, which stop threads from blocking SIGTRAP
// while there are other breakpoints (mask.go in package crashsafe).
func Restore(mem Memory, base uint64, head Head, isData func(addr uint64) bool) (restored []uint64) {
	table := make([]byte, head.Count*EntrySize)
	if mem.Peek(base+TableAt, table) != nil {
		return nil
	}
	for i := head.Count - 1; i >= 0; i-- {
		addr, orig, trap := ParseEntry(table[i*EntrySize:])
		now := make([]byte, len(trap))
		if addr == 0 || mem.Peek(addr, now) != nil || !bytes.Equal(now, trap) || isData(addr) {
			continue
		}
		if Rewrite(mem, addr, orig, len(trap), 0) == nil && addr-base >= Size {
			restored = append(restored, addr)
		}
	}
	return restored
}
