package record

import "encoding/binary"

// Destination says where an item of the log goes when the hit is committed. It may go to an object of the arena instead
// of the host: to the trail of its thread, from which it is sent or discarded later, or to a recorder, which keeps the
// most recent ones.
//
// This happens only when the hit is committed: a program that traps, aborts, or whose probed instruction faults has not
// logged, kept or discarded anything. So keeping and discarding are items too, in the order in which the program did
// them. The low bits of an item's length are its destination.
type Destination uint8

// The destinations.
const (
	ToHost          Destination = iota
	ToObject                    // to the object whose offset is the last word of the item
	Keep                        // an item of two words, header and offset of a trail: its records go to the host, then it is empty
	Forget                      // the same, and its records are forgotten
	destinationMask = 7         // the bits of a length that are its destination
)

// deferredItem is the size in bytes of an item that keeps or forgets a trail.
const deferredItem = 16

// CutItem divides a log after its first item; ok is false if the log does not begin with a whole item. The length of
// the item still contains its destination.
func CutItem(log []byte) (item, rest []byte, to Destination, ok bool) {
	if len(log) < ItemHeader {
		return nil, nil, 0, false
	}
	size := int(binary.LittleEndian.Uint16(log))
	to = Destination(size & destinationMask)
	if size &^= destinationMask; size < ItemHeader || size > len(log) {
		return nil, nil, 0, false // only in a hit that no machine has written
	}
	return log[:size], log[size:], to, true
}

// Detach removes the destination and the object's offset from an item that goes to an object. ok is false if the item
// is too short.
func Detach(item []byte) (detached []byte, object uint64, ok bool) {
	n := len(item) - 8
	object = binary.LittleEndian.Uint64(item[n:])
	if n < ItemHeader {
		return nil, object, false
	}
	item = item[:n]
	binary.LittleEndian.PutUint16(item, uint16(n))
	return item, object, true
}

// TrailOf returns the offset of the trail that an item keeps or forgets.
func TrailOf(item []byte) (object uint64, ok bool) {
	if len(item) != deferredItem {
		return 0, false
	}
	return binary.LittleEndian.Uint64(item[ItemHeader:]), true
}

// IsEvent reports whether an item is the record of an exit.
func IsEvent(programs []Program, item []byte) bool {
	header := binary.LittleEndian.Uint64(item)
	f := FormatOf(programs, uint32(header>>32), uint32(header>>16&0xffff))
	return f != nil && f.Kind == ItemEvent
}
