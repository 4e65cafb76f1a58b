package arm

import (
	"slices"
	"strings"

	"gotap/arch"
)

// exec executes one instruction on the machine c; its condition holds. It changes only c's copy of the registers.
// It writes memory last, when nothing else can fail.
type exec func(c *cpu, w uint32) error

// row is one line of a decode table: the instructions w with w&mask == value. inst describes the form of w.
type row struct {
	mask, value uint32
	name        string
	exec        exec
	class       Class
	control     arch.Control
	flow        func(w uint32) arch.Control // replaces control if that depends on operands
	notInIT     bool                        // must not be in an IT block
	vectors     bool                        // uses arch.Vectors: cpu.v is valid in exec, and committed afterwards

	// unpredictable returns why the architecture leaves the effect of this encoding open (Prepare refuses it), or
	// "". It is nil for instructions without such encodings.
	unpredictable func(w uint32) string

	shouldMask, shouldBe uint32 // bits that should be 0 or 1: (0) and (1) in the manual's pictures
	not15                uint32 // the lowest bits of register fields that must not name r15
	not13                uint32 // the lowest bits of register fields that must not name r13
}

// line is a row in the form in which this package's tables write it. The picture shows the bits of an instruction
// from the highest to the lowest, as in the architecture manual:
//
//	0 1   fixed
//	z o   should be 0, should be 1: anything else is unpredictable
//	n d m s a t   four of a kind: a register, r15 unpredictable
//	all else   a bit of some other field; spaces only group
type line struct {
	picture string
	name    string
	exec    exec
	opt     option
}

// option holds properties that only some lines have.
type option struct {
	class         Class
	control       arch.Control
	flow          func(w uint32) arch.Control
	notInIT       bool
	unpredictable func(w uint32) string
	not13         string // the letters of the register fields that must not name r13
}

// rowOf parses a picture.
func rowOf(l line) row {
	r := row{name: l.name, exec: l.exec, class: l.opt.class, control: l.opt.control, flow: l.opt.flow, notInIT: l.opt.notInIT, unpredictable: l.opt.unpredictable}
	bit, run := 0, 0
	var last byte
	for i := len(l.picture) - 1; i >= 0; i-- {
		ch := l.picture[i]
		if ch == ' ' {
			continue
		}
		if run++; ch != last {
			last, run = ch, 1
		}
		r.addBit(ch, uint32(1)<<bit, run)
		if run%4 == 0 && strings.IndexByte(l.opt.not13, ch) >= 0 {
			r.not13 |= uint32(1) << bit >> 3
		}
		bit++
	}
	return r
}

// addBit processes one letter of a picture, the run-th of its kind in a row.
func (r *row) addBit(ch byte, bit uint32, run int) {
	switch ch {
	case '0', '1':
		r.mask |= bit
		r.value |= bit * uint32(ch-'0')
	case 'z', 'o':
		r.shouldMask |= bit
		if ch == 'o' {
			r.shouldBe |= bit
		}
	case 'n', 'd', 'm', 's', 'a', 't':
		if run%4 == 0 {
			r.not15 |= bit >> 3
		}
	}
}

// rowsOf returns the rows of tables. Earlier tables take precedence.
func rowsOf(tables ...[]line) []row {
	var out []row
	for _, table := range tables {
		for _, l := range table {
			out = append(out, rowOf(l))
		}
	}
	return out
}

// bucketBits is the number of bits of an instruction that select a list of candidates.
const bucketBits = 8

// without13 returns lines whose register fields with these letters must not name r13.
func without13(letters string, lines []line) []line {
	out := slices.Clone(lines)
	for i := range out {
		out[i].opt.not13 += letters
	}
	return out
}

// index holds, for each value of the bits of an instruction from shift up, the rows that can match it, in table order.
type index struct {
	shift   uint
	buckets [1 << bucketBits][]*row
}

// indexOf builds the index of rows.
func indexOf(rows []row, shift uint) *index {
	x := &index{shift: shift}
	for i := range rows {
		r := &rows[i]
		for top := range uint32(len(x.buckets)) {
			if (top<<shift^r.value)&r.mask&((1<<bucketBits-1)<<shift) == 0 {
				x.buckets[top] = append(x.buckets[top], r)
			}
		}
	}
	return x
}

// find returns the first row that matches w, or nil.
func (x *index) find(w uint32) *row {
	for _, r := range x.buckets[w>>x.shift&(1<<bucketBits-1)] {
		if w&r.mask == r.value {
			return r
		}
	}
	return nil
}

// unpredictableReason returns why the effect of w is open, or "".
func (r *row) unpredictableReason(w uint32) string {
	if w&r.shouldMask != r.shouldBe {
		return "unpredictable: bits that should be fixed are not"
	}
	for f := r.not15; f != 0; f &= f - 1 {
		if low := f & -f; w&(low*15) == low*15 {
			return "unpredictable: r15 as an operand"
		}
	}
	for f := r.not13; f != 0; f &= f - 1 {
		if low := f & -f; w&(low*15) == low*regSP {
			return "unpredictable: r13 as an operand"
		}
	}
	if r.unpredictable != nil {
		if reason := r.unpredictable(w); reason != "" {
			return "unpredictable: " + reason
		}
	}
	return ""
}
