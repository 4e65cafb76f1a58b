package inline

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
)

// Layout of an island, in bytes from its start. All numbers are little-endian.
//
//	0        magic
//	16       number of entries in use (4 bytes)
//	24       address and size of the arena's mapping (8 bytes each)
//	40       length of a jump in bytes (4 bytes)
//	64       table of windows, 16 bytes each: address, the bytes that the jump displaces
//	StubsAt  the stubs
const (
	IslandSize = 4 << 20

	countAt   = 16
	arenaAt   = 24
	jumpAt    = 40
	tableAt   = 64
	entrySize = 16
	entries   = 16 << 10
	StubsAt   = tableAt + entries*entrySize

	stubAlign = 16
)

var magic = []byte("gotap inline 1\x00\x00")

// JumpSize is the length of the longest jump that leads from a place to its stub: that of x86-64.
const JumpSize = 5

// Memory is a target's memory. Poke writes regardless of page protection, through a stopped thread if the kernel needs
// one (stopped is 0 if there is none).
type Memory interface {
	Peek(addr uint64, p []byte) error
	Poke(addr uint64, p []byte, stopped int) error
}

// Island is memory of a target near the code of some of its modules. It holds stubs, and the table by which everything
// can be undone without the session that made it. Its zero value is not usable: see Open.
type Island struct {
	Base      uint64
	Arena     uint64 // address of the arena's mapping, within reach of the stubs
	ArenaSize uint64
	Full      bool // there was no room for a stub
	Populated bool // the process has mapped the pages of the ring: see Target.Populate

	form  *Form
	next  uint64         // offset of the next stub
	index map[uint64]int // entries by address
	count int
}

// ErrFull means that an island has no room for a stub.
var ErrFull = errors.New("the memory for native code is full")

// Open prepares new memory of IslandSize bytes, all zeros, as an island.
func Open(mem Memory, form *Form, base, arena, arenaSize uint64, stopped int) (*Island, error) {
	head := make([]byte, tableAt)
	copy(head, magic)
	binary.LittleEndian.PutUint64(head[arenaAt:], arena)
	binary.LittleEndian.PutUint64(head[arenaAt+8:], arenaSize)
	binary.LittleEndian.PutUint32(head[jumpAt:], uint32(form.Len()))
	if err := mem.Poke(base, head, stopped); err != nil {
		return nil, fmt.Errorf("cannot write native code: %w", err)
	}
	return &Island{Base: base, Arena: arena, ArenaSize: arenaSize, form: form, next: StubsAt, index: map[uint64]int{}}, nil
}

// Clone returns the island of a forked child, whose memory is a copy.
func (i *Island) Clone() *Island {
	c := *i
	c.Populated = false // the pages of shared files are not mapped in a child before it uses them
	c.index = make(map[uint64]int, len(i.index))
	for addr, n := range i.index {
		c.index[addr] = n
	}
	return &c
}

// Next returns the address at which the stub for a jump at from can lie. No byte of that jump's offset is that of a
// breakpoint. What restores code after a kill looks for breakpoints at all places that had one, and some of those may
// be behind the first byte of the jump: an exit in front of which it begins, or a place of a session before. It would
// restore a byte in the middle of the jump.
func (i *Island) Next(from uint64) (uint64, error) {
	if !i.form.breaks && i.next < IslandSize { // a breakpoint there is as long as the jump
		return i.Base + i.next, nil
	}
	for next := i.next; next < IslandSize; {
		offset := uint32(i.Base + next - (from + JumpSize))
		n := highestBreakpoint(offset)
		if n < 0 {
			return i.Base + next, nil
		}
		below := uint64(1) << (8 * n) // the distance to the offset with another byte there, and zeros below it
		next += below - uint64(offset)&(below-1)
		next = (next + stubAlign - 1) &^ (stubAlign - 1)
	}
	return 0, ErrFull
}

// highestBreakpoint returns the number of the highest byte that is that of a breakpoint, or -1.
func highestBreakpoint(offset uint32) int {
	for n := 3; n >= 0; n-- {
		if byte(offset>>(8*n)) == breakpoint {
			return n
		}
	}
	return -1
}

// Contains reports whether an address is in the island.
func (i *Island) Contains(addr uint64) bool { return addr >= i.Base && addr < i.Base+IslandSize }

// Add writes a stub for a place whose first bytes are orig; at is what Next returned for it. The memory of a stub is
// never used again: a thread may be in it, or return to it.
func (i *Island) Add(mem Memory, addr uint64, orig [JumpSize]byte, at uint64, stub []byte, stopped int) error {
	size := (uint64(len(stub)) + stubAlign - 1) &^ (stubAlign - 1)
	n, known := i.index[addr]
	if !known {
		n = i.count
	}
	if at-i.Base+size > IslandSize || n == entries {
		return ErrFull
	}
	if err := mem.Poke(at, stub, stopped); err != nil {
		return fmt.Errorf("cannot write native code: %w", err)
	}
	entry := make([]byte, entrySize)
	binary.LittleEndian.PutUint64(entry, addr)
	copy(entry[8:], orig[:])
	if err := mem.Poke(i.Base+tableAt+uint64(n)*entrySize, entry, stopped); err != nil {
		return fmt.Errorf("cannot write native code: %w", err)
	}
	i.next = at - i.Base + size
	if known {
		return nil
	}
	i.index[addr], i.count = n, n+1
	return mem.Poke(i.Base+countAt, binary.LittleEndian.AppendUint32(nil, uint32(i.count)), stopped)
}

// Jump is a place whose code jumps to a stub, or did.
type Jump struct {
	Addr uint64
	Len  int            // in bytes; those below are 0 from there on
	Orig [JumpSize]byte // the bytes that the jump displaces
	Code [JumpSize]byte // the jump

	// Under is what is there without the jump: Orig, with the breakpoints of the session. It need not begin with one.
	// If it does not, a thread may come to a breakpoint at Addr while Insert or Remove write, and has to run the place
	// again.
	Under [JumpSize]byte
}

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

// leadsInto reports whether the code is a jump into the island at an address.
func (j *Jump) leadsInto(base uint64) bool {
	const jmp, b = 0xe9, 0x14000000
	inside := func(to uint64) bool { return to >= base+StubsAt && to < base+IslandSize }
	if j.Len == a64Jump {
		w := binary.LittleEndian.Uint32(j.Code[:])
		return w>>26 == b>>26 && inside(j.Addr+uint64(int64(int32(w<<6)>>4)))
	}
	to := j.Addr + JumpSize + uint64(int64(int32(binary.LittleEndian.Uint32(j.Code[1:]))))
	return j.Code[0] == jmp && inside(to)
}

// a64Jump is the length of a jump on 64-bit ARM.
const a64Jump = 4

// IsHalf reports whether what is at the place may be a part of a jump, behind the breakpoint that stands there while a
// jump of several writes is written.
func (j *Jump) IsHalf(now [JumpSize]byte) bool {
	return j.Len == JumpSize && now[0] == breakpoint && now != j.Under
}

// Jumps returns the places whose jump leads into the island, or whose code a session was killed while it changed. Of
// the latter Code begins with a breakpoint. isData is as for fallback.Restore.
func (l Left) Jumps(mem Memory, isData func(addr uint64) bool) (found []Jump) {
	table := make([]byte, l.count*entrySize)
	if mem.Peek(l.Base+tableAt, table) != nil {
		return nil
	}
	for ; len(table) > 0; table = table[entrySize:] {
		j := Jump{Addr: binary.LittleEndian.Uint64(table), Len: l.jump}
		copy(j.Orig[:], table[8:])
		if mem.Peek(j.Addr, j.Code[:j.Len]) == nil && (j.leadsInto(l.Base) || j.IsHalf(j.Code)) && !isData(j.Addr) {
			found = append(found, j)
		}
	}
	return found
}

// Undo restores the code at a place in one write. The threads of the process are stopped, so that none sees a part of
// the write. A breakpoint in the first byte, as Remove has it, would end a thread that blocks SIGTRAP: nothing has kept
// it from that since the session was killed.
func (j Jump) Undo(mem Memory) error { return mem.Poke(j.Addr, j.Orig[:j.Len], 0) }

// InOnePage reports whether the bytes of a jump at an address are in one page, so that the kernel writes them all or
// none.
func InOnePage(addr uint64) bool {
	const page = 4096
	return addr%page <= page-JumpSize
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
