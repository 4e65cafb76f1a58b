package unwind

import "fmt"

// section is .eh_frame or .debug_frame; the two differ in how entries refer to each other and in pointers.
type section struct {
	data []byte
	addr uint64 // address of data[0] in the module's file
	eh   bool
	word int // size of an address in bytes
}

// cie is the common part of the entries of several functions.
type cie struct {
	codeAlign uint64
	dataAlign int64
	ra        uint8 // the register, or column, of the return address
	enc       uint8 // of the addresses in the entries
	augmented bool  // entries have augmentation data
	signal    bool  // the frame that a signal handler returns to, whose program counter is not a return address
	pauthB    bool
	program   []byte
	err       error // why it cannot be read; the other fields are then unset
}

// fde is the entry of one function, or of one contiguous part of it.
type fde struct {
	*cie
	lo, hi  uint64
	program []byte
}

// header is the start of every entry.
type header struct {
	r    reader // the rest of the entry
	id   uint64
	idAt int // offset of the id in the section, which .eh_frame counts from
	next int // offset of the next entry
	cie  bool
	end  bool // the terminator: an entry of length zero
}

// header reads the start of the entry at off.
func (s *section) header(off int) (header, error) {
	r := reader{data: s.data, off: off}
	size, length := 4, r.word(4)
	if length == 0xffffffff {
		size, length = 8, r.word(8)
	}
	if r.err != nil {
		return header{}, r.err
	}
	if length == 0 {
		return header{end: true, next: r.off}, nil
	}
	if length > uint64(len(s.data)-r.off) {
		return header{}, errShort
	}
	h := header{idAt: r.off, next: r.off + int(length)}
	if s.eh {
		size = 4 // the id of .eh_frame has four bytes in the 64-bit format too
	}
	h.id = r.word(size)
	h.cie = s.isCIE(h.id, size)
	h.r = reader{data: s.data[:h.next], off: r.off}
	return h, r.err
}

func (s *section) isCIE(id uint64, size int) bool {
	if s.eh {
		return id == 0
	}
	return id == ^uint64(0)>>(64-8*size)
}

// cieOffset returns the offset of the common part of the entry with this header.
func (s *section) cieOffset(h *header) (int, error) {
	off := int64(h.id)
	if s.eh {
		off = int64(h.idAt) - off
	}
	if off < 0 || off >= int64(len(s.data)) {
		return 0, fmt.Errorf("call-frame entry refers to offset %#x outside its section", off)
	}
	return int(off), nil
}

// cieAt parses the common part at off.
func (s *section) cieAt(off int) (*cie, error) {
	h, err := s.header(off)
	if err != nil {
		return nil, err
	}
	if !h.cie {
		return nil, fmt.Errorf("no common call-frame entry at offset %#x", off)
	}
	c, r := &cie{}, &h.r
	version := r.u8()
	augmentation := r.cstring()
	if augmentation == "eh" { // GCC 2: an unused pointer
		r.word(s.word)
	}
	if version >= 4 {
		r.bytes(2) // sizes of addresses and of segment selectors
	}
	c.codeAlign, c.dataAlign = r.uleb(), r.sleb()
	if version == 1 {
		c.ra = r.u8()
	} else {
		c.ra = uint8(r.uleb())
	}
	if err := s.augment(c, r, augmentation); err != nil {
		return nil, err
	}
	c.program = r.data[min(r.off, len(r.data)):]
	return c, r.err
}

// augment reads the data that the augmentation string announces.
func (s *section) augment(c *cie, r *reader, augmentation string) error {
	for i, letter := range augmentation {
		switch letter {
		case 'z':
			size := r.uleb()
			c.augmented = true
			if i == 0 && size <= uint64(len(r.data)-r.off) {
				end := r.off + int(size)
				defer func() { r.off = end }()
			}
		case 'R':
			c.enc = r.u8()
		case 'P':
			r.pointer(r.u8(), s.word, s.addr, 0)
		case 'L':
			r.u8()
		case 'S':
			c.signal = true
		case 'B':
			c.pauthB = true
		case 'e', 'h', 'G': // "eh" of GCC 2; memory tagging of stacks
		default:
			return fmt.Errorf("call-frame augmentation %q is unknown", augmentation)
		}
	}
	return nil
}

// fdeWith parses the entry with this header, whose common part is c. Its addresses are addresses in the file.
func (s *section) fdeWith(h *header, c *cie) (fde, error) {
	r := &h.r
	f := fde{cie: c}
	lo, ok := r.pointer(c.enc, s.word, s.addr, 0)
	size, ok2 := r.pointer(c.enc&0x0f, s.word, 0, 0)
	if !ok || !ok2 {
		return f, fmt.Errorf("call-frame pointer encoding %#x is not supported", c.enc)
	}
	if s.word == 4 {
		size = uint64(uint32(size))
	}
	f.lo, f.hi = lo, lo+size
	if c.augmented {
		r.bytes(int(r.uleb()))
	}
	if r.err != nil {
		return f, r.err
	}
	f.program = r.data[r.off:]
	return f, nil
}
