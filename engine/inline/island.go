package inline

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Layout of an island, in bytes from its start. All numbers are little-endian.
//
//	0        magic
//	16       number of entries in use (4 bytes)
//	24       address and size of the arena's mapping (8 bytes each)
//	40       length of a jump in bytes (4 bytes)
//	64       table of windows, 16 bytes each: address, the bytes that the jump displaces, its kind (1 byte)
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

// kindAt is where an entry has the kind of its jump.
const kindAt = 8 + JumpSize

// Kinds of jumps.
const (
	toStub        = iota // from a place to its stub
	toSpringboard        // from a place to a springboard; it has two bytes
	ofSpringboard        // from a springboard to a stub
)

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

// Add writes a stub for the place of a jump; at is what Next returned for it. The memory of a stub is never used again:
// a thread may be in it, or return to it.
func (i *Island) Add(mem Memory, j *Jump, at uint64, stub []byte, stopped int) error {
	size := (uint64(len(stub)) + stubAlign - 1) &^ (stubAlign - 1)
	if at-i.Base+size > IslandSize {
		return ErrFull
	}
	if err := mem.Poke(at, stub, stopped); err != nil {
		return fmt.Errorf("cannot write native code: %w", err)
	}
	i.next = at - i.Base + size
	kind := toStub
	if j.Via != nil {
		kind = toSpringboard
		if err := i.list(mem, j.Via.Addr, j.Via.Orig, ofSpringboard, stopped); err != nil {
			return err
		}
	}
	return i.list(mem, j.Addr, j.Orig, byte(kind), stopped)
}

// list ensures that the table has an entry.
func (i *Island) list(mem Memory, addr uint64, orig [JumpSize]byte, kind byte, stopped int) error {
	n, known := i.index[addr]
	if !known {
		n = i.count
	}
	if n == entries {
		return ErrFull
	}
	entry := make([]byte, entrySize)
	binary.LittleEndian.PutUint64(entry, addr)
	copy(entry[8:], orig[:])
	entry[kindAt] = kind
	if err := mem.Poke(i.Base+tableAt+uint64(n)*entrySize, entry, stopped); err != nil {
		return fmt.Errorf("cannot write native code: %w", err)
	}
	if known {
		return nil
	}
	i.index[addr], i.count = n, n+1
	return mem.Poke(i.Base+countAt, binary.LittleEndian.AppendUint32(nil, uint32(i.count)), stopped)
}
