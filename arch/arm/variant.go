package arm

// variant says how the instructions of a family differ, as a set. The tables name the members that apply to an
// instruction. The letters X, R, A, S and D in the instructions' names mean the same.
type variant uint8

const (
	doubling     variant = 1 << iota // the second operand is doubled (QDADD, QDSUB)
	subtracting                      // the second operand, or the second product, is subtracted
	crossed                          // the halves of the second operand are exchanged (X)
	accumulating                     // the result is added to a register
	rounding                         // half of the last place is added before bits are dropped (R)

	plain variant = 0 // none of them
)

// has reports whether an instruction has a property.
func (v variant) has(kind variant) bool { return v&kind != 0 }
