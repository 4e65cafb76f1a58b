package xz

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"hash/crc64"
	"slices"
)

// ErrFormat reports data that is not in the XZ format, or damaged; ErrSize a result that is larger than allowed.
var (
	ErrFormat = errors.New("the XZ data is damaged")
	ErrSize   = errors.New("the XZ data becomes larger than allowed")
)

// The parts of a stream ("The .xz File Format", 2.1).
const (
	magic      = "\xfd7zXZ\x00"
	headerSize = 12
)

// checkSizes are the sizes of checksums by their number. Others are reserved.
var checkSizes = map[byte]int{checkNone: 0, checkCRC32: 4, checkCRC64: 8, checkSHA256: 32}

// Kinds of checksums.
const (
	checkNone   = 0x00
	checkCRC32  = 0x01
	checkCRC64  = 0x04
	checkSHA256 = 0x0a
)

// Decode decompresses one stream. The result has at most limit bytes; more are ErrSize. Bytes behind the blocks of the
// stream are not read. Other errors match ErrFormat.
func Decode(packed []byte, limit int) ([]byte, error) {
	if len(packed) < headerSize || string(packed[:6]) != magic || packed[6] != 0 ||
		binary.LittleEndian.Uint32(packed[8:]) != crc32.ChecksumIEEE(packed[6:8]) {
		return nil, fmt.Errorf("%w: it has no header", ErrFormat)
	}
	check := packed[7]
	if _, known := checkSizes[check]; !known {
		return nil, fmt.Errorf("%w: it has checksums of unknown kind %d", ErrFormat, check)
	}
	in := &input{data: packed, at: headerSize}
	var out []byte
	for in.more() && in.data[in.at] != 0 { // 0 begins the index behind the blocks
		start := len(out)
		if err := blockHeader(in); err != nil {
			return nil, err
		}
		block := in.at
		size, err := blockSize(*in, limit-len(out))
		if err != nil {
			return nil, err
		}
		out = slices.Grow(out, size)
		if out, err = decodeChunks(in, out, limit); err != nil {
			return nil, err
		}
		in.take((block - in.at) & 3) // padding
		if err := verify(check, out[start:], in.take(checkSizes[check])); err != nil {
			return nil, err
		}
	}
	if !in.more() || in.short {
		return nil, fmt.Errorf("%w: it ends early", ErrFormat)
	}
	return out, nil
}

// blockHeader reads the header of a block (3.1), which must have LZMA2 as its only filter. Sizes in it are not needed.
func blockHeader(in *input) error {
	size := (int(in.data[in.at]) + 1) * 4
	header := in.take(size)
	if in.short || binary.LittleEndian.Uint32(header[size-4:]) != crc32.ChecksumIEEE(header[:size-4]) {
		return fmt.Errorf("%w: a block has no header", ErrFormat)
	}
	h := &input{data: header[:size-4], at: 1}
	flags := h.byte()
	for _, present := range []byte{0x40, 0x80} { // compressed and uncompressed size
		if flags&present != 0 {
			h.number()
		}
	}
	const lzma2 = 0x21
	filter, props := h.number(), h.number()
	if flags&0x3f != 0 || filter != lzma2 || props != 1 || h.short {
		return fmt.Errorf("%w: it needs a filter other than LZMA2", ErrFormat)
	}
	return nil
}

// verify compares a block with its checksum.
func verify(check byte, block, sum []byte) error {
	var got []byte
	switch check {
	case checkCRC32:
		got = binary.LittleEndian.AppendUint32(nil, crc32.ChecksumIEEE(block))
	case checkCRC64:
		got = binary.LittleEndian.AppendUint64(nil, crc64.Checksum(block, crc64.MakeTable(crc64.ECMA)))
	case checkSHA256:
		s := sha256.Sum256(block)
		got = s[:]
	}
	if !bytes.Equal(got, sum) {
		return fmt.Errorf("%w: a checksum is wrong", ErrFormat)
	}
	return nil
}

// input reads bytes. Behind the end, short is set and bytes are 0.
type input struct {
	data  []byte
	at    int
	short bool
}

func (in *input) more() bool { return in.at < len(in.data) }

func (in *input) byte() byte {
	if !in.more() {
		in.short = true
		return 0
	}
	in.at++
	return in.data[in.at-1]
}

// take returns the next n bytes, fewer at the end.
func (in *input) take(n int) []byte {
	if n > len(in.data)-in.at {
		in.short, n = true, len(in.data)-in.at
	}
	in.at += n
	return in.data[in.at-n : in.at : in.at]
}

// number reads an integer of variable length (1.2).
func (in *input) number() (v uint64) {
	for shift := 0; shift < 63; shift += 7 {
		b := in.byte()
		v |= uint64(b&0x7f) << shift
		if b&0x80 == 0 {
			return v
		}
	}
	in.short = true
	return 0
}
