package arm

import (
	"encoding/binary"
	"fmt"
	"io"

	"gotap/arch"
)

// inst is a decoded instruction, the value of arch.Insn.Op. It is immutable.
type inst struct {
	word  uint32 // as encoded, but 32-bit Thumb with its first half above; see vectorWord
	size  uint32 // 2 or 4
	cond  uint32 // 14 and 15 always hold
	thumb bool   // if so, cond is set for conditional branches only: other instructions depend on ITSTATE
	row   *row
}

// executes reports whether the condition of the instruction holds.
func (in *inst) executes(cpsr uint32) bool {
	if in.thumb {
		if it := itState(cpsr); it&15 != 0 {
			return holds(it>>4, cpsr)
		}
	}
	return holds(in.cond, cpsr)
}

// decode finds the row of the instruction at the start of code. If it fails, the inst has no word, size or
// row.
func (s *isa) decode(code []byte) (*inst, error) {
	if !s.thumb {
		if len(code) < 4 {
			return nil, io.ErrUnexpectedEOF
		}
		return decodeA32(binary.LittleEndian.Uint32(code))
	}
	if len(code) < 2 {
		return nil, io.ErrUnexpectedEOF
	}
	first := uint32(binary.LittleEndian.Uint16(code))
	if first < 0xe800 { // below 0b11101 the instruction is one halfword
		return found(thumb16().find(first), inst{word: first, size: 2, cond: condT16(first), thumb: true})
	}
	if len(code) < 4 {
		return nil, io.ErrUnexpectedEOF
	}
	return decodeT32(first<<16 | uint32(binary.LittleEndian.Uint16(code[2:])))
}

// found completes an inst if there is a row for it.
func found(r *row, in inst) (*inst, error) {
	if r == nil || r.class == hole {
		return nil, errUndefined
	}
	in.row = r
	return &in, nil
}

// decodeA32 decodes a word of A32 (Arm ARM DDI 0487, F4.1).
func decodeA32(w uint32) (*inst, error) {
	in := inst{word: w, size: 4, cond: w >> 28}
	if isVectorA32(w) {
		return foundVector(w, in)
	}
	if w>>28 == 15 {
		return found(a32Always().find(w), in)
	}
	return found(a32().find(w), in)
}

// decodeT32 decodes two halfwords of Thumb (F3.1).
func decodeT32(w uint32) (*inst, error) {
	in := inst{word: w, size: 4, cond: condT32(w), thumb: true}
	if v, ok := vectorWord(w); ok {
		in.word = v
		return foundVector(v, in)
	}
	return found(thumb32().find(w), in)
}

// foundVector calls the decoder of the vector unit.
func foundVector(w uint32, in inst) (*inst, error) {
	r, err := decodeVector(w, in.thumb)
	if err != nil {
		return nil, err
	}
	in.row = &r
	return &in, nil
}

// isCoprocessorVector reports whether bits 11 to 8 of a coprocessor instruction belong to the vector unit: 10 and
// 11, 8 and 9 for half precision and later extensions, 12 and 13 without a condition.
func isCoprocessorVector(w uint32) bool { return w>>10&3 == 2 || w>>28 == 15 && w>>9&7 == 6 }

// isVectorA32 reports the encodings that decodeVector handles.
func isVectorA32(w uint32) bool {
	switch {
	case w>>28 == 15 && w>>25&7 == 1: // SIMD data processing
		return true
	case w>>28 == 15 && w>>24&15 == 4 && !bit(w, 20): // SIMD element and structure loads and stores
		return true
	}
	return (w>>25&7 == 6 || w>>24&15 == 14) && isCoprocessorVector(w)
}

// vectorWord turns a 32-bit Thumb instruction of the vector unit into its A32 form.
func vectorWord(w uint32) (uint32, bool) {
	switch {
	case w>>24&0xef == 0xef: // 111u1111: the U bit moves from 28 to 24
		return 0xf2000000 | w>>28&1<<24 | w&0xffffff, true
	case w>>24 == 0xf9 && !bit(w, 20):
		return 0xf4000000 | w&0xffffff, true
	case (w>>25&7 == 6 || w>>24&15 == 14) && isCoprocessorVector(w): // 1111 means the same in both sets
		return w, true
	}
	return 0, false
}

// Decode decodes the instruction at the start of code.
func (s *isa) Decode(code []byte, addr uint64) (arch.Insn, error) {
	in, err := s.decode(code)
	if err != nil {
		return arch.Insn{}, fmt.Errorf("%w at %#x", err, addr)
	}
	out := arch.Insn{Addr: addr, Len: int(in.size), Control: in.control(), Op: in}
	copy(out.Bytes[:], code[:in.size])
	out.Target = in.target(addr, out.Control)
	return out, nil
}
