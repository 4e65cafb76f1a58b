package entry

import (
	"encoding/binary"
	"fmt"
)

// Cursor reads little-endian fields. After a failure, Err is set and fields are zero.
type Cursor struct {
	Data []byte
	Off  int
	Err  error
}

func (c *Cursor) Bytes(n int) []byte {
	if n < 0 || n > len(c.Data)-c.Off {
		c.Err = fmt.Errorf("debug information ends early")
		c.Off = len(c.Data)
		return make([]byte, max(0, min(n, 8)))
	}
	b := c.Data[c.Off : c.Off+n]
	c.Off += n
	return b
}

func (c *Cursor) More() bool { return c.Err == nil && c.Off < len(c.Data) }

func (c *Cursor) U8() uint8 {
	if c.Off < len(c.Data) {
		c.Off++
		return c.Data[c.Off-1]
	}
	return c.Bytes(1)[0]
}

func (c *Cursor) U16() uint16 { return binary.LittleEndian.Uint16(c.Bytes(2)) }

func (c *Cursor) U32() uint32 { return binary.LittleEndian.Uint32(c.Bytes(4)) }

func (c *Cursor) U64() uint64 { return binary.LittleEndian.Uint64(c.Bytes(8)) }

// Word reads an unsigned integer of 1, 2, 4 or 8 bytes.
func (c *Cursor) Word(size int) uint64 {
	switch size {
	case 1:
		return uint64(c.U8())
	case 2:
		return uint64(c.U16())
	case 4:
		return uint64(c.U32())
	}
	return c.U64()
}

// Signed reads a two's complement integer.
func (c *Cursor) Signed(size int) int64 {
	shift := 64 - 8*uint(size)
	return int64(c.Word(size)<<shift) >> shift
}

// Offset reads an offset into a section.
func (c *Cursor) Offset(wide bool) uint64 {
	if wide {
		return c.U64()
	}
	return uint64(c.U32())
}

func (c *Cursor) ULEB() uint64 {
	if c.Off < len(c.Data) && c.Data[c.Off] < 0x80 { // most
		c.Off++
		return uint64(c.Data[c.Off-1])
	}
	var v uint64
	for shift := uint(0); ; shift += 7 {
		b := c.U8()
		if shift < 64 {
			v |= uint64(b&0x7f) << shift
		}
		if b&0x80 == 0 || c.Err != nil {
			return v
		}
	}
}

func (c *Cursor) SLEB() int64 {
	var v int64
	for shift := uint(0); ; {
		b := c.U8()
		if shift < 64 {
			v |= int64(b&0x7f) << shift
		}
		shift += 7
		if b&0x80 != 0 && c.Err == nil {
			continue
		}
		if b&0x40 != 0 && shift < 64 {
			v |= -1 << shift
		}
		return v
	}
}
