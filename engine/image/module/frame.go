package module

import (
	"encoding/binary"
	"errors"
	"sort"
)

// Call-frame information has the bounds of functions even when there are no symbols: each entry (FDE) covers one
// function, or one piece of it. Only the ranges are read here (Linux Standard Base 5, "Exception Frames").

// Pointer encodings (DW_EH_PE_*).
const (
	encAbs    = 0x00
	encULEB   = 0x01
	encU2     = 0x02
	encU4     = 0x03
	encU8     = 0x04
	encSLEB   = 0x09
	encS2     = 0x0a
	encS4     = 0x0b
	encS8     = 0x0c
	encPCRel  = 0x10
	encOmit   = 0xff
	encFormat = 0x0f
	encBase   = 0x70

	encIndirect = 0x80 // the address of the pointer
)

var errFrame = errors.New("damaged call-frame information")

// frameReader reads .eh_frame. After a read past the end it returns zeros and sets bad.
type frameReader struct {
	data  []byte
	at    int
	addr  uint64 // of data[0]
	word  int
	order binary.ByteOrder
	bad   bool
}

// take returns the next n bytes, or nil.
func (r *frameReader) take(n int) []byte {
	if n < 0 || n > len(r.data)-r.at {
		r.bad, r.at = true, len(r.data)
		return nil
	}
	p := r.data[r.at : r.at+n]
	r.at += n
	return p
}

// uint reads an unsigned number of n bytes.
func (r *frameReader) uint(n int) uint64 {
	p := r.take(n)
	switch {
	case p == nil:
		return 0
	case n == 1:
		return uint64(p[0])
	case n == 2:
		return uint64(r.order.Uint16(p))
	case n == 4:
		return uint64(r.order.Uint32(p))
	}
	return r.order.Uint64(p)
}

// sint reads a signed number of n bytes.
func (r *frameReader) sint(n int) uint64 {
	shift := 64 - 8*n
	return uint64(int64(r.uint(n)<<shift) >> shift)
}

// leb reads a LEB128 number.
func (r *frameReader) leb(signed bool) uint64 {
	var v uint64
	for shift := 0; ; shift += 7 {
		b := r.uint(1)
		if shift < 64 {
			v |= (b & 0x7f) << shift
		}
		if b&0x80 != 0 && !r.bad {
			continue
		}
		if signed && b&0x40 != 0 && shift+7 < 64 {
			v |= ^uint64(0) << (shift + 7)
		}
		return v
	}
}

// pointer reads an encoded pointer. Relative ones count from their own address.
func (r *frameReader) pointer(enc byte) uint64 {
	here := r.addr + uint64(r.at)
	v := r.value(enc)
	if enc&encBase == encPCRel {
		v += here
	}
	if r.word == 4 {
		v = uint64(uint32(v))
	}
	return v
}

// value reads a number in the format of an encoding.
func (r *frameReader) value(enc byte) uint64 {
	switch enc & encFormat {
	case encAbs:
		return r.uint(r.word)
	case encULEB:
		return r.leb(false)
	case encSLEB:
		return r.leb(true)
	case encU2:
		return r.uint(2)
	case encU4:
		return r.uint(4)
	case encU8:
		return r.uint(8)
	case encS2:
		return r.sint(2)
	case encS4:
		return r.sint(4)
	case encS8:
		return r.sint(8)
	}
	r.bad = true
	return 0
}

// frame is an entry of call-frame information: a function, or a piece of one.
type frame struct {
	Range
	table uint64 // address of its exception table (LSDA); 0: none
}

// commonEntry is what a common entry (CIE) says of the entries that refer to it.
type commonEntry struct {
	enc       byte // of their addresses
	tables    byte // of the addresses of their exception tables, or encOmit
	augmented bool // they have augmentation data
}

// frameEntries returns the entries of .eh_frame, sorted by start. A damaged entry ends the list.
func frameEntries(data []byte, addr uint64, word int, order binary.ByteOrder) []frame {
	r := frameReader{data: data, addr: addr, word: word, order: order}
	var frames []frame
	commons := map[int]commonEntry{} // by offset
	for r.at+4 <= len(data) {
		length, idSize := r.uint(4), 4
		if length == 0 {
			continue // a terminator; linkers may leave one in the middle
		}
		if length == 0xffffffff {
			length, idSize = r.uint(8), 4
		}
		start := r.at
		if length > uint64(len(data)-start) {
			break
		}
		next := start + int(length)
		// An identifier of 0 marks a common entry; otherwise it is the distance back to one.
		if id := r.uint(idSize); id != 0 {
			c, err := common(r, start-int(id), commons)
			if err != nil {
				break
			}
			if f := r.frame(c); f.Start != 0 && f.End > f.Start { // entries of functions that the linker removed start at 0
				frames = append(frames, f)
			}
		}
		r.at, r.bad = next, false
	}
	sort.Slice(frames, func(i, j int) bool { return frames[i].Start < frames[j].Start })
	return frames
}

// frame reads the entry of a function behind its identifier. A damaged one is empty; one whose augmentation data is
// damaged has no exception table.
func (r *frameReader) frame(c commonEntry) (f frame) {
	lo := r.pointer(c.enc)
	hi := lo + r.value(c.enc&encFormat) // the length has the pointer's format, but is never relative
	if r.bad {
		return frame{}
	}
	f.Range = Range{lo, hi}
	if !c.augmented || c.tables == encOmit || r.leb(false) == 0 {
		return f
	}
	// A pointer of zero is not relative: the function has no table.
	peek := *r
	if peek.value(c.tables) == 0 {
		return f
	}
	if table := r.pointer(c.tables); !r.bad && c.tables&encIndirect == 0 {
		f.table = table
	}
	return f
}

// common returns what the common entry (CIE) at an offset says.
func common(r frameReader, at int, known map[int]commonEntry) (commonEntry, error) {
	if c, ok := known[at]; ok {
		return c, nil
	}
	if at < 0 || at >= len(r.data) {
		return commonEntry{}, errFrame
	}
	r.at = at
	c, err := r.cie()
	known[at] = c
	return c, err
}

// maxAugmentation bounds the length of an augmentation, which a damaged section may refer to from every byte. Linkers
// write up to six letters.
const maxAugmentation = 16

// cie reads a common entry as far as the encodings of the augmentation.
func (r *frameReader) cie() (commonEntry, error) {
	if length := r.uint(4); length == 0xffffffff {
		r.uint(8)
	}
	r.uint(4) // the identifier
	version := r.uint(1)
	var aug []byte
	for c := r.uint(1); c != 0; c = r.uint(1) {
		if len(aug) == maxAugmentation {
			return commonEntry{}, errFrame
		}
		aug = append(aug, byte(c))
	}
	// GCC 2 wrote an additional pointer here.
	if len(aug) >= 2 && aug[0] == 'e' && aug[1] == 'h' {
		r.uint(r.word)
		aug = aug[2:]
	}
	r.leb(false) // code alignment
	r.leb(true)  // data alignment
	if version == 1 {
		r.uint(1) // return address register
	} else {
		r.leb(false)
	}
	c, err := r.augmentation(aug)
	if r.bad {
		return commonEntry{}, errFrame
	}
	return c, err
}

// augmentation reads the data for the letters of an augmentation.
func (r *frameReader) augmentation(aug []byte) (commonEntry, error) {
	e := commonEntry{enc: encAbs, tables: encOmit}
	for _, c := range aug {
		switch c {
		case 'z':
			e.augmented = true
			r.leb(false)
		case 'R':
			e.enc = byte(r.uint(1))
		case 'L':
			e.tables = byte(r.uint(1))
		case 'P':
			if personality := byte(r.uint(1)); personality != encOmit {
				r.pointer(personality)
			}
		case 'S', 'B', 'G': // signal frame, pointer authentication, memory tagging: no data
		default:
			return commonEntry{}, errFrame
		}
	}
	return e, nil
}

// frameAt returns the range of the entry that covers an address.
func (f *File) frameAt(vaddr uint64) (Range, bool) {
	frames := f.Frames()
	i := sort.Search(len(frames), func(i int) bool { return frames[i].Start > vaddr }) - 1
	if i < 0 || !frames[i].Contains(vaddr) {
		return Range{}, false
	}
	return frames[i], true
}

// frameAfter returns the start of the first entry behind an address.
func (f *File) frameAfter(vaddr uint64) (uint64, bool) {
	frames := f.Frames()
	i := sort.Search(len(frames), func(i int) bool { return frames[i].Start > vaddr })
	if i == len(frames) {
		return 0, false
	}
	return frames[i].Start, true
}

// Frames returns the ranges of functions, or of pieces of functions, in call-frame information, sorted by start. The
// list must not be changed.
func (f *File) Frames() []Range {
	return f.frames.get(f.readFrames)
}

// readFrames reads .eh_frame. A file whose .eh_frame cannot be read has no ranges.
func (f *File) readFrames() []Range {
	entries := f.frameEntries()
	ranges := make([]Range, len(entries))
	for i, e := range entries {
		ranges[i] = e.Range
	}
	return ranges
}

// frameEntries reads .eh_frame.
func (f *File) frameEntries() []frame {
	data, addr, err := f.Section(".eh_frame")
	if err != nil {
		return nil
	}
	return frameEntries(data, addr, f.WordSize(), f.Order)
}
