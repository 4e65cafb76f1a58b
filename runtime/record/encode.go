package record

import (
	"encoding/binary"
	"sync/atomic"
)

// Encode writes a record as words.
func Encode(to []uint64, hdr *Header, item []byte) {
	var header [HeaderSize]byte
	hdr.encode(header[:])
	binary.LittleEndian.PutUint64(header[:], hdr.word())
	storeWords(to, header[:])
	storeWords(to[HeaderSize/8:], item)
}

// storeWords copies bytes, a multiple of 8, into words that other threads may read at the same time.
func storeWords(to []uint64, p []byte) {
	for i := 0; i+8 <= len(p); i += 8 {
		atomic.StoreUint64(&to[i/8], binary.LittleEndian.Uint64(p[i:]))
	}
}

// Where a record has its words, in bytes from its start, for writers in other processes. Word 0 commits it.
const (
	ProgramAt = 8  // program and probe
	PidAt     = 16 // pid and tid
	TimeAt    = 24
	HoldAt    = 32 // hold and exit
	CommAt    = 40
)

// Words returns the words of a record's header: the first one, which commits it, and the others.
func (hdr *Header) Words() (first uint64, others [HeaderSize/8 - 1]uint64) {
	var header [HeaderSize]byte
	hdr.encode(header[:])
	for i := range others {
		others[i] = binary.LittleEndian.Uint64(header[8+8*i:])
	}
	return hdr.word(), others
}

// word returns the first word of a record, see the layout at ring.
func (hdr *Header) word() uint64 {
	return uint64(hdr.Size) | uint64(hdr.Flags)<<32 | uint64(hdr.Kind)<<48 | committed
}

// encode writes the header except its first word.
func (hdr *Header) encode(p []byte) {
	binary.LittleEndian.PutUint32(p[8:], hdr.Program)
	binary.LittleEndian.PutUint32(p[12:], hdr.Probe)
	binary.LittleEndian.PutUint32(p[16:], hdr.Pid)
	binary.LittleEndian.PutUint32(p[20:], hdr.Tid)
	binary.LittleEndian.PutUint64(p[24:], hdr.Time)
	binary.LittleEndian.PutUint32(p[32:], hdr.Hold)
	binary.LittleEndian.PutUint32(p[36:], hdr.Exit)
	copy(p[40:HeaderSize], hdr.Comm[:])
}
