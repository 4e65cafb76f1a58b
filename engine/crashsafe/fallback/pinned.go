package fallback

import "encoding/binary"

// The record of the CPUs that a session has set for the process, at pinnedAt: the size of the masks, and two masks. The
// size is written last and cleared first, so that the record is in force as a whole or not at all. The handler for
// x86-64 reads it. Regions of sessions that do not know the record have zeros there, which mean that nothing was set.
const (
	pinnedAt  = 0x600
	formerAt  = pinnedAt + 8
	givenAt   = formerAt + MaskSize
	pinnedEnd = givenAt + MaskSize

	// MaskSize is the largest size of a mask in the record, in bytes.
	MaskSize = 120
)

// Pinned holds the CPUs that a session has set for a process. They are masks as system calls take them, of the same
// size, which is at most MaskSize.
type Pinned struct {
	Former []byte // to be set at the end of the session
	Given  []byte // set by the session; if others are in force, somebody else has set them, and they stay
}

// PinnedRecord returns the addresses and the bytes to write, in this order, to make a record known to the handler.
func PinnedRecord(base uint64, p Pinned) (masksAt uint64, masks []byte, sizeAt uint64, size []byte) {
	masks = make([]byte, pinnedEnd-formerAt)
	copy(masks, p.Former)
	copy(masks[MaskSize:], p.Given)
	return base + formerAt, masks, base + pinnedAt, binary.LittleEndian.AppendUint32(nil, uint32(len(p.Given)))
}

// NoPinned returns the address and the bytes to write to remove the record.
func NoPinned(base uint64) (at uint64, p []byte) { return base + pinnedAt, make([]byte, 4) }

// ReadPinned reads the record of a region; ok is false if there is none.
func ReadPinned(mem Memory, base uint64) (p Pinned, ok bool) {
	record := make([]byte, pinnedEnd-pinnedAt)
	if mem.Peek(base+pinnedAt, record) != nil {
		return p, false
	}
	size := int(u32(record))
	if size <= 0 || size > MaskSize || size%8 != 0 {
		return p, false
	}
	return Pinned{record[formerAt-pinnedAt:][:size], record[givenAt-pinnedAt:][:size]}, true
}
