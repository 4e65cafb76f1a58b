package arm

// variant is how the instructions of a family differ, as a set: the tables name what applies to an instruction, and its operation looks at
// those that the family has. The letters of the instructions' names say the same: X, R, A, S, D.
type variant uint8

const (
	doubling     variant = 1 << iota // the second operand counts twice (QDADD, QDSUB)
	subtracting                      // the second operand, or the second product, is taken away
	crossed                          // the halves of the second operand change places (X)
	accumulating                     // the result is added to a register
	rounding                         // to nearest: half of the last place is added before bits are dropped (R)

	plain variant = 0 // none of them
)

// has reports whether an instruction is of a kind.
func (v variant) has(kind variant) bool { return v&kind != 0 }
