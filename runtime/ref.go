package runtime

import "gotap/runtime/value"

// Ref is a text on the operand stack, packed into one word so that texts move like numbers:
//
//	bits  0–31  offset: index into Code.Texts, bytes into the scratch memory of the hit, or a TextField
//	bits 32–47  length in bytes
//	bit  48     the text was cut: it is longer than what is here
//	bits 62–63  space
//
// The zero word is the empty text, so an unset scratch word reads as "". Text in the arena is copied to the scratch
// memory when it is pushed. So a later store by another thread cannot change a text that is on the stack, and no
// reference outlives its hit.
//
// References to constants, and to texts that are the same at every hit of a place, do not depend on what a run has done
// before. So native code, which is made for one place, has them as constants.
type Ref uint64

// The spaces of a Ref. The value 3 is not a text; using such a word as a text traps.
const (
	spaceConst   = 0
	spaceScratch = 1
	spacePlace   = 2
)

// ConstRef returns the reference of a constant text, given as its index and its length.
func ConstRef(index uint32, length int) Ref {
	return Ref(makeRef(spaceConst, int(index), min(length, value.MaxText), length > value.MaxText))
}

// PlaceRef returns the reference of a text that is the same at every hit of a place (OfPlace), given as its length.
func PlaceRef(f TextField, length int) Ref {
	return Ref(makeRef(spacePlace, int(f), min(length, value.DefaultText), length > value.DefaultText))
}

const (
	refLenShift   = 32
	refLenMask    = 0xffff
	refCut        = 1 << 48
	refSpaceShift = 62
)

// makeRef packs a reference. Lengths are below 1<<16 because no text is longer than MaxText.
func makeRef(space, offset, length int, cut bool) uint64 {
	r := uint64(space)<<refSpaceShift | uint64(length)<<refLenShift | uint64(uint32(offset))
	if cut {
		r |= refCut
	}
	return r
}

// Len is the length of the text in bytes.
func (r Ref) Len() int { return int(r >> refLenShift & refLenMask) }

// Cut reports whether the text is only the beginning of a longer one.
func (r Ref) Cut() bool { return r&refCut != 0 }

func (r Ref) offset() int { return int(uint32(r)) }
func (r Ref) space() int  { return int(r >> refSpaceShift) }
