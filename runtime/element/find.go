package element

import (
	"encoding/binary"
)

// MaxReads bounds the reads of a search, each of at most a chunk.
const MaxReads = 2048

// Bounds of searches.
const (
	chunk    = 64 // control bytes that are read at once
	maxEdges = 12 // of a node of a B-tree
	perGroup = 8  // slots of a group
)

// Memory is the memory of the target.
type Memory struct {
	Read func(addr uint64, p []byte) int // how many bytes could be read
	Word int                             // bytes of a pointer
}

// Find returns the address of element n of the container at an address, of the byte with it if it is a bit. found is
// false where it is not there.
func (l Layout) Find(m Memory, container, n uint64) (addr uint64, found bool) {
	if l.Kind == None || l.Kind >= numKinds || len(l.Numbers) != kinds[l.Kind].numbers || n >= uint64(l.Kind.Most()) {
		return 0, false
	}
	s := search{Memory: m, at: container, numbers: l.Numbers, left: MaxReads}
	switch l.Kind {
	case Tree:
		addr = s.tree(n)
	case Slots:
		addr = s.slots(n)
	case BTree:
		addr = s.btree(n)
	case Groups:
		addr = s.groups(n)
	case Ring:
		addr = s.ring(n)
	case Blocks:
		addr = s.blocks(n)
	case Deque:
		addr = s.deque(n)
	case Bits:
		rest := uint64(binary.LittleEndian.Uint32(s.bytes(s.at+s.number(2), 4)))
		addr = s.bits(n, (s.field(1)-s.field(0))*8+rest)
	case CountedBits:
		addr = s.bits(n, s.field(1))
	}
	if addr != 0 {
		s.bytes(addr, 1) // a link may lead anywhere
	}
	if s.failed {
		return 0, false
	}
	return addr, addr != 0
}

// search is the search for one element.
type search struct {
	Memory
	at      uint64
	numbers []int64
	left    int  // reads
	failed  bool // memory could not be read, or too much of it
	buf     [chunk]byte
}

// number is one of the layout's.
func (s *search) number(i int) uint64 { return uint64(s.numbers[i]) }

// bytes reads n bytes, at most a chunk; they are zeros where they cannot be read.
func (s *search) bytes(addr uint64, n int) []byte {
	p := s.buf[:n]
	if s.failed || s.left == 0 || s.Read(addr, p) < n {
		s.failed = true
		clear(p)
	}
	s.left = max(s.left-1, 0)
	return p
}

// word reads a number of a pointer's size.
func (s *search) word(addr uint64) uint64 {
	if s.Word == 4 {
		return uint64(binary.LittleEndian.Uint32(s.bytes(addr, 4)))
	}
	return binary.LittleEndian.Uint64(s.bytes(addr, 8))
}

// field reads a number of a pointer's size in the container.
func (s *search) field(i int) uint64 { return s.word(s.at + s.number(i)) }

// tree follows a binary tree in order.
func (s *search) tree(n uint64) uint64 {
	left, right, parent := s.number(1), s.number(2), s.number(3)
	node := s.field(0)
	for ; n > 0 && node != 0 && !s.failed; n-- {
		if next := s.word(node + right); next != 0 {
			for node = next; !s.failed; node = next {
				if next = s.word(node + left); next == 0 {
					break
				}
			}
			continue
		}
		for !s.failed {
			above := s.word(node + parent)
			isRight := s.word(above+right) == node
			node = above
			if !isRight {
				break
			}
		}
	}
	if node == 0 {
		return 0
	}
	return node + s.number(4)
}

// full returns the index of the full control byte that has n others before it; a byte without the highest bit says that
// the slot is full. What is left of n is returned where there are not enough.
func full(control []byte, n uint64) (index int, left uint64) {
	for i, c := range control {
		if c&0x80 != 0 {
			continue
		}
		if n == 0 {
			return i, 0
		}
		n--
	}
	return -1, n
}

// slots searches a table of hashbrown, whose slots lie below the control bytes.
func (s *search) slots(n uint64) uint64 {
	control, slots, size := s.field(0), s.field(1)+1, s.number(2)
	for first := uint64(0); first < slots && !s.failed; first += chunk {
		count := min(slots-first, chunk)
		i, left := full(s.bytes(control+first, int(count)), n)
		if i >= 0 && !s.failed {
			return control - (first+uint64(i)+1)*size
		}
		n = left
	}
	return 0
}

// btree follows a B-tree of Rust in order.
func (s *search) btree(n uint64) uint64 {
	addr, _ := s.subtree(s.field(0), s.field(1), n)
	return addr
}

// subtree searches below a node; left is what is left of n when it has not enough elements.
func (s *search) subtree(node, height, n uint64) (addr, left uint64) {
	if height > 16 || node == 0 {
		s.failed = true
	}
	count := uint64(binary.LittleEndian.Uint16(s.bytes(node+s.number(2), 2)))
	if s.failed || count >= maxEdges {
		s.failed = true
		return 0, n
	}
	for i := uint64(0); i <= count && !s.failed; i++ {
		if height > 0 {
			if addr, n = s.subtree(s.word(node+s.number(3)+i*uint64(s.Word)), height-1, n); addr != 0 {
				return addr, 0
			}
		}
		if i == count {
			break
		}
		if n == 0 {
			return node + s.number(4) + i*s.number(5), 0
		}
		n--
	}
	return 0, n
}

// groups searches a map of Go: one group, or a directory of tables of groups. A table may stand in the directory
// several times, one after the other.
func (s *search) groups(n uint64) uint64 {
	directory, length := s.field(0), s.field(1)
	if directory == 0 {
		return 0
	}
	if length == 0 {
		addr, _ := s.group(directory, n)
		return addr
	}
	last := uint64(0)
	for i := uint64(0); i < length && !s.failed; i++ {
		table := s.word(directory + i*uint64(s.Word))
		if table == last {
			continue
		}
		last = table
		data, mask := s.word(table+s.number(2)), s.word(table+s.number(3))
		for g := uint64(0); g <= mask && !s.failed; g++ {
			addr, left := s.group(data+g*s.number(4), n)
			if addr != 0 {
				return addr
			}
			n = left
		}
	}
	return 0
}

// group searches a group of Go's maps, which begins with its control bytes.
func (s *search) group(at, n uint64) (addr, left uint64) {
	i, left := full(s.bytes(at, perGroup), n)
	if i < 0 || s.failed {
		return 0, left
	}
	return at + s.number(5) + uint64(i)*s.number(6), 0
}

// ring finds in a ring.
func (s *search) ring(n uint64) uint64 {
	buffer, capacity, first := s.field(0), s.field(1), s.field(2)
	if capacity == 0 || buffer == 0 {
		return 0
	}
	return buffer + (first%capacity+n)%capacity*s.number(3)
}

// blocks finds in blocks of the same number of elements.
func (s *search) blocks(n uint64) uint64 {
	return s.inBlock(s.field(0), s.field(1)+n, s.number(2), s.number(3))
}

// bits finds the byte of a bit.
func (s *search) bits(n, count uint64) uint64 {
	first := s.field(0)
	if first == 0 || n >= count {
		return 0
	}
	return first + n/8
}

// inBlock finds in the blocks that a table has.
func (s *search) inBlock(table, index, per, size uint64) uint64 {
	if per == 0 || table == 0 {
		return 0
	}
	block := s.word(table + index/per*uint64(s.Word))
	if block == 0 {
		return 0
	}
	return block + index%per*size
}

// deque finds in a deque of libstdc++, which has addresses where Blocks has an index, and no number of elements.
func (s *search) deque(n uint64) uint64 {
	table, per, size := s.field(0), s.number(6), s.number(7)
	if size == 0 {
		return 0
	}
	first, end := (s.field(1)-s.field(2))/size, (s.field(4)-s.field(5))/size
	blocks := (s.field(3) - table) / uint64(s.Word)
	if first+n >= blocks*per+end {
		return 0
	}
	return s.inBlock(table, first+n, per, size)
}
