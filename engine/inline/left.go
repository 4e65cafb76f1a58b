package inline

import (
	"bytes"
	"encoding/binary"
	"iter"
	"slices"
)

// What a session that was killed has left in a process: islands, and the jumps that lead into them.

// Left is an island found in the memory of a process.
type Left struct {
	Base, Arena, ArenaSize uint64
	jump, count            int
}

// At returns the island at an address, if there is one.
func At(mem Memory, base uint64) (l Left, ok bool) {
	head := make([]byte, tableAt)
	if mem.Peek(base, head) != nil || !bytes.HasPrefix(head, magic) {
		return l, false
	}
	l = Left{Base: base, Arena: binary.LittleEndian.Uint64(head[arenaAt:]), ArenaSize: binary.LittleEndian.Uint64(head[arenaAt+8:])}
	if l.jump = int(binary.LittleEndian.Uint32(head[jumpAt:])); l.jump != a64Jump {
		l.jump = JumpSize // 0: of a gotap that knew no other
	}
	l.count = int(min(binary.LittleEndian.Uint32(head[countAt:]), entries))
	return l, true
}

// Find returns the islands in the memory of a process that start at an address of the given mappings: those of
// anonymous memory that can be executed. The kernel may have merged an island's mapping with others of its kind.
func Find(mem Memory, mappings iter.Seq[Range]) (found []Left) {
	const page = 4096
	for m := range mappings {
		for base := m.Start; base+IslandSize <= m.End; base += page {
			if l, ok := At(mem, base); ok {
				found = append(found, l)
			}
		}
	}
	return found
}

// Jumps returns the places whose jump leads into the island, or whose code a session was killed while it changed, and
// behind them the springboards that lead there. Of code that was being changed, Code begins with a breakpoint. isData is
// as for fallback.Restore.
func (l Left) Jumps(mem Memory, isData func(addr uint64) bool) (found []Jump) {
	table := make([]byte, l.count*entrySize)
	if mem.Peek(l.Base+tableAt, table) != nil {
		return nil
	}
	springboards := map[uint64]bool{}
	var places []Jump
	for ; len(table) > 0; table = table[entrySize:] {
		j, kind := Jump{Addr: binary.LittleEndian.Uint64(table), Len: l.jump}, table[kindAt]
		if kind == toSpringboard {
			j.Len = shortJump
		}
		copy(j.Orig[:j.Len], table[8:])
		if mem.Peek(j.Addr, j.Code[:j.Len]) != nil || isData(j.Addr) {
			continue
		}
		if kind != ofSpringboard {
			places = append(places, j)
		} else if to, ok := j.Leads(); ok && l.contains(to) {
			j.Springboard = true
			springboards[j.Addr] = true
			found = append(found, j)
		}
	}
	places = slices.DeleteFunc(places, func(j Jump) bool {
		to, ok := j.Leads()
		return !j.IsHalf(j.Code) && !(ok && (l.contains(to) || springboards[to]))
	})
	return append(places, found...)
}

// contains reports whether an address is one of stubs.
func (l Left) contains(addr uint64) bool { return addr >= l.Base+StubsAt && addr < l.Base+IslandSize }
