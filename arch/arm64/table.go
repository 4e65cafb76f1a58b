package arm64

import (
	"sync"

	"gotap/arch"
)

// exec carries out one instruction on the machine c. It changes c's copy of the registers only; writing memory comes last, when nothing
// else can fail any more.
type exec func(c *cpu, w uint32) error

// row is one line of the decode table: the instructions w with w&mask == value.
type row struct {
	mask, value uint32
	name        string
	exec        exec
	class       Class
	control     arch.Control
	vectors     bool // reads or writes arch.Vectors: cpu.v is valid while exec runs, and is committed after it

	// undefined and unpredictable tell of the encodings under the mask that are not this instruction (Decode fails), and of those
	// whose effect the architecture leaves open (Prepare refuses). Nil stands for none.
	undefined     func(w uint32) bool
	unpredictable func(w uint32) bool
}

// inst is the form in which a decoded instruction travels in arch.Insn.Op. It is immutable.
type inst struct {
	word uint32
	row  row
}

// index holds, for each value of the top byte of an instruction, the rows that can match it, in the order of the tables. Rows of
// one table exclude one another but for those listed early on purpose. It is made at its first use: most runs of the program never decode.
var index = sync.OnceValue(buildIndex)

func buildIndex() *[256][]*row {
	out := new([256][]*row)
	for _, table := range [][]row{controlRows, systemRows, immediateRows, registerRows, loadRows, atomicRows, otherRows} {
		for i := range table {
			r := &table[i]
			for top := range out {
				if uint32(top)&(r.mask>>24) == r.value>>24 {
					out[top] = append(out[top], r)
				}
			}
		}
	}
	return out
}

// isVector reports the encodings that decodeVector answers for: data processing of floating point and SIMD (op0 x111), and all loads and
// stores with the V bit (op0 x1x0, bit 26). Among them are memory copies, whose table is there too.
func isVector(w uint32) bool {
	return w>>25&7 == 7 || w>>25&5 == 4 && w>>26&1 == 1
}

// find is the row of an instruction (Arm ARM DDI 0487, C4.1).
func find(w uint32) (row, error) {
	if isVector(w) {
		return decodeVector(w)
	}
	for _, r := range index()[w>>24] {
		if w&r.mask == r.value && (r.undefined == nil || !r.undefined(w)) {
			return *r, nil
		}
	}
	return row{}, errUndefined
}
