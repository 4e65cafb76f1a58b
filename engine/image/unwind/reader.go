package unwind

import (
	"encoding/binary"
	"errors"
)

// errShort reports call-frame information that ends within a field.
var errShort = errors.New("call-frame information ends early")

// reader reads little-endian data and remembers the first failure, so that parsers check once, at the end.
// All architectures of Layout are little-endian on Linux.
type reader struct {
	data []byte
	off  int
	err  error
}

func (r *reader) bytes(n int) []byte {
	if n < 0 || n > len(r.data)-r.off {
		r.err = errShort
		r.off = len(r.data)
		return nil
	}
	b := r.data[r.off : r.off+n]
	r.off += n
	return b
}

func (r *reader) more() bool { return r.err == nil && r.off < len(r.data) }

func (r *reader) u8() uint8 {
	if b := r.bytes(1); b != nil {
		return b[0]
	}
	return 0
}

// word reads an unsigned integer of 1, 2, 4 or 8 bytes.
func (r *reader) word(size int) uint64 {
	b := r.bytes(size)
	if b == nil {
		return 0
	}
	switch size {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(binary.LittleEndian.Uint16(b))
	case 4:
		return uint64(binary.LittleEndian.Uint32(b))
	case 8:
		return binary.LittleEndian.Uint64(b)
	}
	r.err = errShort
	return 0
}

// signed reads a two's complement integer of 1, 2, 4 or 8 bytes.
func (r *reader) signed(size int) int64 {
	shift := 64 - 8*uint(size)
	return int64(r.word(size)<<shift) >> shift
}

func (r *reader) uleb() uint64 {
	var v uint64
	for shift := uint(0); ; shift += 7 {
		b := r.u8()
		if shift < 64 {
			v |= uint64(b&0x7f) << shift
		}
		if b&0x80 == 0 || r.err != nil {
			return v
		}
	}
}

func (r *reader) sleb() int64 {
	var v int64
	for shift := uint(0); ; {
		b := r.u8()
		if shift < 64 {
			v |= int64(b&0x7f) << shift
		}
		shift += 7
		if b&0x80 != 0 && r.err == nil {
			continue
		}
		if b&0x40 != 0 && shift < 64 {
			v |= -1 << shift
		}
		return v
	}
}

// cstring reads a string that ends with a zero byte.
func (r *reader) cstring() string {
	for i := r.off; i < len(r.data); i++ {
		if r.data[i] == 0 {
			s := string(r.data[r.off:i])
			r.off = i + 1
			return s
		}
	}
	r.err = errShort
	return ""
}

// Pointer encodings of .eh_frame (Linux Standard Base, "DWARF Exception Header Encoding"): the low nibble is the
// format, and the next three bits give the base of relative values.
const (
	encAbsPtr   = 0x00
	encULEB     = 0x01
	encUData2   = 0x02
	encUData4   = 0x03
	encUData8   = 0x04
	encSigned   = 0x08
	encSLEB     = 0x09
	encSData2   = 0x0a
	encSData4   = 0x0b
	encSData8   = 0x0c
	encPCRel    = 0x10
	encDataRel  = 0x30
	encAligned  = 0x50
	encIndirect = 0x80
	encOmit     = 0xff
)

// pointer reads an encoded pointer. base is the address of r.data[0]; dataBase is the base of data-relative values. ok
// is false for an encoding that cannot be resolved from the file alone.
func (r *reader) pointer(enc uint8, word int, base, dataBase uint64) (v uint64, ok bool) {
	at := base + uint64(r.off)
	switch enc & 0x0f {
	case encAbsPtr:
		v = r.word(word)
	case encSigned:
		v = uint64(r.signed(word))
	case encULEB:
		v = r.uleb()
	case encSLEB:
		v = uint64(r.sleb())
	case encUData2, encUData4, encUData8:
		v = r.word(1 << (enc&0x0f - 1))
	case encSData2, encSData4, encSData8:
		v = uint64(r.signed(1 << (enc&0x07 - 1)))
	default:
		return 0, false
	}
	switch enc & 0x70 {
	case 0:
	case encPCRel:
		v += at
	case encDataRel:
		v += dataBase
	default:
		return 0, false
	}
	if word == 4 {
		v = uint64(uint32(v))
	}
	return v, enc&encIndirect == 0
}
