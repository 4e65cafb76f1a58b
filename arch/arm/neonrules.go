package arm

// The rules of NEON's data processing. What they refuse is UNDEFINED unless stated otherwise.

// oddRegister reports an odd number in the register field whose lowest bit is at a position: such a register does
// not begin a quad.
func oddRegister(w uint32, places ...int) bool {
	for _, p := range places {
		if flag(w, p) == 1 {
			return true
		}
	}
	return false
}

// The lowest bits of the register fields.
const lowD, lowN, lowM = 12, 16, 0

// quad requires even registers if bit 6 (Q) says that they are quads.
func quad(places ...int) rule {
	return func(w uint32, _ bool) verdict { return undefinedUnless(flag(w, 6) == 0 || !oddRegister(w, places...)) }
}

// evenRegisters requires even registers.
func evenRegisters(places ...int) rule {
	return func(w uint32, _ bool) verdict { return undefinedUnless(!oddRegister(w, places...)) }
}

// quadBy is quad for the by-scalar instructions, whose Q is bit 24.
func quadBy(w uint32, _ bool) verdict {
	return undefinedUnless(flag(w, 24) == 0 || !oddRegister(w, lowD, lowN))
}

// sizes requires bits 21:20 to be in a set, in which bit n allows n.
func sizes(set uint32) rule { return among(20, 2, set) }

// kinds is sizes for bits 19:18.
func kinds(set uint32) rule { return among(18, 2, set) }

// among requires a field to be in a set.
func among(low, width int, set uint32) rule {
	return func(w uint32, _ bool) verdict { return undefinedUnless(set>>field(w, low, width)&1 == 1) }
}

// Sets of sizes, by the width of the element.
const (
	s8   = 1 << 0
	s16  = 1 << 1
	s32  = 1 << 2
	s64  = 1 << 3
	s832 = s8 | s16 | s32
)

// The sets that bits 21:20 make of one bit of operation and one of format are always whole; those of bits 19:18 are:
const floats = s16 | s32

var (
	quad3 = quad(lowD, lowN, lowM)
	quad2 = quad(lowD, lowM)
	quad1 = quad(lowD)
)

// distinct requires two different registers, because both are written.
func distinct(w uint32, _ bool) verdict {
	return sameRegister.when(doubleD(w) == doubleM(w))
}

// reversible requires the element to be smaller than the group that is reversed.
func reversible(w uint32, _ bool) verdict {
	return undefinedUnless(field(w, 7, 2)+field(w, 18, 2) < 3)
}

// zippable requires more than one element in a double.
func zippable(w uint32, _ bool) verdict {
	return undefinedUnless(field(w, 18, 2) < 2+flag(w, 6))
}

// extractable requires the first byte of a VEXT of doubles to be in the first double.
func extractable(w uint32, _ bool) verdict {
	return undefinedUnless(flag(w, 6) == 1 || flag(w, 11) == 0)
}

// inTable requires the registers of a table to exist.
func inTable(w uint32, _ bool) verdict {
	return pastLast.when(doubleN(w)+field(w, 8, 2) > 31)
}

// pointed requires a fixed point within the element: imm6 of 32 and above, or of 48 and above for half precision.
func pointed(w uint32, _ bool) verdict {
	imm := field(w, 16, 6)
	return undefinedUnless(imm >= 48 || flag(w, 9) == 1 && imm >= 32)
}
