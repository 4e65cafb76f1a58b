// # The vector unit
//
// VFP and NEON are a second decoder beside that of the core, as next to nothing is common to their encodings but the condition.
// decodeVector gets the word in A32 form, in which both instruction sets agree; the tables (neontable.go, vfptable.go) show every
// encoding as the manual draws it. The first row that fits is the instruction, and its rules say whether the fields it was given
// are allowed: if not, the word is undefined and does not decode, or is unpredictable and Prepare refuses it.
//
// An exec of NEON is put together, when the tables are, from a walk over elements (same3, longOp, narrowHigh, …) and from what
// happens to one element (laneQAdd, …). Walks read all that they need of a register before they write it, as the destination
// may be an operand. Registers are seen as doubles, a quad as two of them; where elements do not mix, the two are done one after the
// other.
//
// Floating point is gotap/arch/ieee's, on raw bits. scalarFloat gives it the modes of FPSCR, for VFP; vectorFloat those that NEON
// always has: to nearest, subnormals flushed, default NaNs. endFloat adds the exceptions to FPSCR. Both kinds work in the cpu's own
// environment, since one on the stack would escape through the calls by function value, and a hit must not allocate.
//
// A load reads its memory by one call before any register changes, and a store lays out its bytes and writes them by one call. That
// is always possible: the memory of one vector instruction is one piece.
//
// Which instructions are there is not asked: everything up to Armv8.6 is emulated, on a processor without it as well, where the program
// would have been killed. Left out, with the reason given, are:
//
//   - short vectors: arithmetic of VFP while FPSCR.LEN is not 0 (or STRIDE, for what is undefined then). Only a hit can tell.
//   - what user mode may not touch: FPSID, MVFR0 to MVFR2, FPEXC, FPINST. They do not decode.
//   - unpredictable fields: registers past d31, PC where it is no operand, two results in one register, a condition on an instruction
//     that must not have one.
//
// The bits of FPSCR that enable trapped exceptions read as 0, as on every processor that has none. An instruction that is only to be used
// outside of IT blocks, such as VSEL, obeys the condition of a block that it is in, which is one of the choices that the
// architecture leaves there.
package arm

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

// findVector is the first row that matches w, or nil.
func findVector(w uint32) *vectorRow {
	rows := vectorRows(w)
	for i := range rows {
		if w&rows[i].mask == rows[i].value {
			return &rows[i]
		}
	}
	return nil
}

// vectorRows is the table that holds w, if any does: NEON's two corners of the unconditional space, and what has a
// coprocessor number, with a condition or without.
func vectorRows(w uint32) []vectorRow {
	switch {
	case w>>25 == 0b1111001:
		return neonRows
	case w>>24 == 0b11110100:
		return neonMemoryRows
	case w>>28 == 0b1111:
		return unconditionalRows
	default:
		return vfpRows
	}
}

// verdict is what the rules of a row say of one encoding: that it is fine, is undefined, or why it is unpredictable.
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

// when is the verdict of a condition, if that is met.
func (v verdict) when(broken bool) verdict {
	if broken {
		return v
	}
	return fine
}

// errShortVector refuses VFP's obsolete vectors when one is met: whether an instruction is one depends on FPSCR.
const errShortVector = refusal("cannot emulate a short vector: FPSCR.LEN or STRIDE is not 0")

// rule looks at the fields of an encoding that matched a row.
type rule func(w uint32, thumb bool) verdict

// vectorRow is one instruction of VFP or NEON: the words w with w&mask == value. Its rules say which fields it must not have; a row that
// has no exec has the rule never.
type vectorRow struct {
	mask, value uint32
	name        string
	exec        exec
	rules       []rule
}

// verdict is what the first rule says that has something against an encoding.
func (r *vectorRow) verdict(w uint32, thumb bool) verdict {
	for _, rule := range r.rules {
		if v := rule(w, thumb); v != fine {
			return v
		}
	}
	return fine
}

// of makes a row of a picture of the encoding, as the manual draws it: 32 characters besides spaces, of which 0 and 1
// are fixed and every letter is a field.
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

// flag is one bit of an instruction as a number.
func flag(w uint32, n int) uint32 { return w >> n & 1 }

func doubleD(w uint32) uint32 { return flag(w, 22)<<4 | field(w, 12, 4) }
func doubleN(w uint32) uint32 { return flag(w, 7)<<4 | field(w, 16, 4) }
func doubleM(w uint32) uint32 { return flag(w, 5)<<4 | field(w, 0, 4) }
func singleD(w uint32) uint32 { return field(w, 12, 4)<<1 | flag(w, 22) }
func singleN(w uint32) uint32 { return field(w, 16, 4)<<1 | flag(w, 7) }
func singleM(w uint32) uint32 { return field(w, 0, 4)<<1 | flag(w, 5) }
