package arm64

// variant is how the instructions of a family differ, as a set: the tables name what applies to an instruction, and its operation looks at
// those that the family has. The names of the instructions say the same in letters: s and u, r, q, a.
type variant uint8

const (
	signed       variant = 1 << iota // operands are signed
	toUnsigned                       // and the result is not, though they are
	rounded                          // to nearest: half of the last place is added before bits are dropped
	saturating                       // what does not fit becomes the nearest that does, and FPSR.QC is set
	accumulating                     // the result is added to the destination
	subtracting                      // the second operand, or the product, is taken away
	upperHalf                        // narrow operands are those of the upper half of a register

	unsigned variant = 0 // not signed, nor anything else
	plain    variant = 0 // nothing, where there is no sign
)

// has reports whether an instruction is of a kind.
func (v variant) has(kind variant) bool { return v&kind != 0 }

// signedResult reports whether the result is signed.
func (v variant) signedResult() bool { return v&(signed|toUnsigned) == signed }
