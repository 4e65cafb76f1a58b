package arm64

// variant says how the instructions of a family differ, as a set. The tables name the members that apply to an
// instruction. The letters s, u, r, q and a in the instructions' names mean the same.
type variant uint8

const (
	signed       variant = 1 << iota // operands are signed
	toUnsigned                       // operands are signed and the result is not
	rounded                          // half of the last place is added before bits are dropped
	saturating                       // a result that does not fit becomes the nearest that does, and FPSR.QC is set
	accumulating                     // the result is added to the destination
	subtracting                      // the second operand, or the product, is subtracted
	upperHalf                        // narrow operands are those of the upper half of a register

	unsigned variant = 0 // not signed, nor anything else
	plain    variant = 0 // nothing, where there is no sign
)

// has reports whether an instruction has a property.
func (v variant) has(kind variant) bool { return v&kind != 0 }

// signedResult reports whether the result is signed.
func (v variant) signedResult() bool { return v&(signed|toUnsigned) == signed }
