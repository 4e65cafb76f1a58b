// # The vector unit
//
// VFP and NEON have a decoder of their own, because their encodings share little with the core's but the condition.
// decodeVector takes the word in A32 form, which serves both instruction sets. The tables (neontable.go,
// vfptable.go) show every encoding as the manual does. The first row that matches is the instruction. Its rules
// check the fields: an undefined word does not decode, and Prepare refuses an unpredictable one.
//
// The tables combine an executor of NEON from a function that applies an operation to all elements (same3, longOp,
// narrowHigh, …) and a function of one element (laneQAdd, …). All operands are read before the destination is
// written, because it may be one of them. Registers are treated as doubles, and a quad as two. If elements are
// independent, the two doubles are handled one after the other.
//
// Package ieee computes floating point on raw bits. scalarFloat sets the modes of FPSCR for VFP; vectorFloat sets
// those that NEON always has: round to nearest, flush subnormals, default NaNs. endFloat adds the exceptions to
// FPSCR. Both use the cpu's environment, because one on the stack would escape through calls of function values,
// and a hit must not allocate.
//
// A load reads its memory with one call before any register changes, and a store prepares its bytes and writes them
// with one call. That is always possible, because the memory of one vector instruction is contiguous.
//
// Everything up to Armv8.6 is emulated, even on a processor without it, where the program would have been killed.
// Not emulated, with a reason, are:
//
//   - short vectors: arithmetic of VFP while FPSCR.LEN is not 0 (or STRIDE, for instructions undefined then), known
//     only at a hit;
//   - registers that user mode must not access: FPSID, MVFR0 to MVFR2, FPEXC, FPINST, which do not decode;
//   - unpredictable fields: registers past d31, PC where it is not allowed, two results in one register, a condition
//     where none is allowed.
//
// The bits of FPSCR that enable trapped exceptions read as 0, as on every processor without them. An instruction
// that must be outside IT blocks, such as VSEL, obeys the condition of its block, which is one of the choices that
// the architecture allows.
package arm

import "gotap/arch"

// decodeVector makes the row of an instruction of VFP or NEON. w is the instruction in its A32 form; thumb says that it
// came from a Thumb encoding, whose use of PC is narrower.
func decodeVector(w uint32, thumb bool) (row, error) {
	v := findVector(w)
	if v == nil {
		return row{}, errUndefined
	}
	r := row{mask: v.mask, value: v.value, name: v.name, exec: v.exec, vectors: true}
	switch said := v.verdict(w, thumb); said {
	case fine:
	case undefined:
		return row{}, errUndefined
	default:
		r.unpredictable = func(uint32) string { return openReasons[said] }
	}
	return r, nil
}

// findVector returns the first row that matches w, or nil.
func findVector(w uint32) *vectorRow {
	rows := vectorRows(w)
	for i := range rows {
		if w&rows[i].mask == rows[i].value {
			return &rows[i]
		}
	}
	return nil
}

// vectorRows returns the table that holds w, if any does: NEON's two corners of the unconditional space, and what has a
// coprocessor number, with a condition or without.
func vectorRows(w uint32) []vectorRow {
	switch {
	case w>>25 == 0b1111001:
		return neonRows()
	case w>>24 == 0b11110100:
		return neonMemoryRows()
	case w>>28 == 0b1111:
		return unconditionalRows()
	default:
		return vfpRows()
	}
}

// verdict is the result of a row's rules for one encoding: valid, undefined, or unpredictable with a reason.
type verdict uint8

const (
	fine verdict = iota
	undefined
	pastLast
	pcOperand
	spOperand
	sameRegister
	conditioned
	notFixed
	pointAbove
	emptyRun
)

var openReasons = [...]string{
	pastLast:     "registers past the last",
	pcOperand:    "r15 as an operand",
	spOperand:    "r13 as an operand",
	sameRegister: "two results in one register",
	conditioned:  "a condition",
	notFixed:     "bits that should be fixed are not",
	pointAbove:   "a point above the number",
	emptyRun:     "no registers",
}

// when returns the verdict if the condition is met.
func (v verdict) when(broken bool) verdict {
	if broken {
		return v
	}
	return fine
}

// errShortVector refuses VFP's obsolete short vectors at a hit, because FPSCR decides whether an instruction is one.
const errShortVector = arch.Refusal("cannot emulate a short vector: FPSCR.LEN or STRIDE is not 0")

// rule checks the fields of an encoding that matched a row.
type rule func(w uint32, thumb bool) verdict

// vectorRow is one instruction of VFP or NEON: the words w with w&mask == value. Its rules
// refuse invalid fields. A row without exec has the rule never.
type vectorRow struct {
	mask, value uint32
	name        string
	exec        exec
	rules       []rule
}

// verdict returns the verdict of the first rule that refuses an encoding.
func (r *vectorRow) verdict(w uint32, thumb bool) verdict {
	for _, rule := range r.rules {
		if v := rule(w, thumb); v != fine {
			return v
		}
	}
	return fine
}

// of makes a row from a picture of the encoding, as in the manual: 32 characters besides spaces, of which 0 and 1
// are fixed and every letter is a field. Inlined into the tables it would take 100 KB.
//
//go:noinline
func of(picture, name string, e exec, rules ...rule) vectorRow {
	r := vectorRow{name: name, exec: e, rules: rules}
	n := 0
	for _, ch := range picture {
		if ch == ' ' {
			continue
		}
		r.mask, r.value, n = r.mask<<1, r.value<<1, n+1
		if ch == '0' || ch == '1' {
			r.mask |= 1
			r.value |= uint32(ch - '0')
		}
	}
	if n != 32 {
		panic("arm: the picture of " + name + " is not 32 bits")
	}
	return r
}

// Fields. Every vector instruction keeps its registers in the same places: D:Vd, N:Vn and M:Vm for doubles and quads,
// Vd:D, Vn:N and Vm:M for singles.

// flag returns one bit of an instruction as a number.
func flag(w uint32, n int) uint32 { return w >> n & 1 }

func doubleD(w uint32) uint32 { return flag(w, 22)<<4 | field(w, 12, 4) }
func doubleN(w uint32) uint32 { return flag(w, 7)<<4 | field(w, 16, 4) }
func doubleM(w uint32) uint32 { return flag(w, 5)<<4 | field(w, 0, 4) }
func singleD(w uint32) uint32 { return field(w, 12, 4)<<1 | flag(w, 22) }
func singleN(w uint32) uint32 { return field(w, 16, 4)<<1 | flag(w, 7) }
func singleM(w uint32) uint32 { return field(w, 0, 4)<<1 | flag(w, 5) }
