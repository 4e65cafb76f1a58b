package arm64

import (
	"sync"

	"gotap/arch"
)

// exec executes one instruction on the machine c. It changes only c's copy of the registers. It writes memory last,
// when nothing else can fail.
type exec func(c *cpu, w uint32) error

// row is one line of the decode table: the instructions w with w&mask == value.
type row struct {
	mask, value uint32
	name        string
	exec        exec
	class       Class
	control     arch.Control
	vectors     bool // reads or writes arch.Vectors: cpu.v is valid while exec runs, and is committed afterwards

	// undefined reports encodings under the mask that are not this instruction (Decode fails), and unpredictable
	// those whose effect the architecture leaves open (Prepare refuses). Both may be nil.
	undefined     func(w uint32) bool
	unpredictable func(w uint32) bool
}

// inst is a decoded instruction, the value of arch.Insn.Op. It is immutable.
type inst struct {
	word uint32
	row  row
}

// index holds, for each value of the top byte of an instruction, the rows that can match it, in the order of the
// tables. Rows of one table exclude one another, except for some that come first on purpose. It is built at first
// use, because most runs of the program never decode ARM.
var index = sync.OnceValue(buildIndex)

func buildIndex() *[256][]*row {
	out := new([256][]*row)
	for _, table := range [][]row{controlRows, systemRows, immediateRows, registerRows, loadRows(), atomicRows(), otherRows} {
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

// isVector reports the encodings that decodeVector handles: data processing of floating point and SIMD (op0 x111),
// and all loads and stores with the V bit (op0 x1x0, bit 26). They include memory copies.
func isVector(w uint32) bool {
	return w>>25&7 == 7 || w>>25&5 == 4 && w>>26&1 == 1
}

// find returns the row of an instruction (Arm ARM DDI 0487, C4.1).
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
