package unwind

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sort"
)

// 32-bit ARM has its own tables, often without any others: .ARM.exidx locates the function, and a few bytes of code
// there or in .ARM.extab describe how to unwind its frame (Exception Handling ABI for the Arm Architecture, IHI 0038,
// chapters 5 to 9). They are valid at calls, that is, in the code between prologue and epilogue; partial.go handles the
// rest.

// exidx holds the tables of one module.
type exidx struct {
	index, table         []byte
	indexAddr, tableAddr uint64
}

// errCannotUnwind reports a function that the tables mark as outermost.
var errCannotUnwind = fmt.Errorf("%w: the unwind table ends here", ErrNoCaller)

// loadExidx finds the sections.
func (t *Table) loadExidx() {
	var err, err2 error
	t.arm.index, t.arm.indexAddr, err = t.file.Section(".ARM.exidx")
	t.arm.table, t.arm.tableAddr, err2 = t.file.Section(".ARM.extab")
	if err != nil || err2 != nil {
		t.arm = exidx{}
	}
}

// word returns the word at an address in one of the two sections.
func (x *exidx) word(addr uint64) (uint32, bool) {
	if i := addr - x.indexAddr; i < uint64(len(x.index)) && i+4 <= uint64(len(x.index)) {
		return binary.LittleEndian.Uint32(x.index[i:]), true
	}
	if i := addr - x.tableAddr; i < uint64(len(x.table)) && i+4 <= uint64(len(x.table)) {
		return binary.LittleEndian.Uint32(x.table[i:]), true
	}
	return 0, false
}

// prel31 returns the target of a word of the tables: 31 bits, relative to the address of the word.
func prel31(at uint64, w uint32) uint64 {
	return uint64(uint32(at) + uint32(int32(w<<1)>>1))
}

// start returns the start of the function of entry i.
func (x *exidx) start(i int) uint64 {
	at := x.indexAddr + 8*uint64(i)
	return prel31(at, binary.LittleEndian.Uint32(x.index[8*i:])) &^ 1
}

// find finds the code for the function at pc.
func (x *exidx) find(pc uint64) (start uint64, code []byte, err error) {
	i := sort.Search(len(x.index)/8, func(i int) bool { return x.start(i) > pc }) - 1
	if i < 0 {
		return 0, nil, fmt.Errorf("%w for address %#x", ErrNoEntry, pc)
	}
	at := x.indexAddr + 8*uint64(i) + 4
	w, _ := x.word(at)
	switch {
	case w == 1:
		return 0, nil, errCannotUnwind
	case w>>31 == 1:
		return x.start(i), inline(w), nil
	}
	code, err = x.entry(prel31(at, w))
	return x.start(i), code, err
}

// inline returns the code in a word of the compact model.
func inline(w uint32) []byte { return []byte{byte(w >> 16), byte(w >> 8), byte(w)} }

// entry returns the code in .ARM.extab. An entry of the generic model begins with the personality routine of the
// language. All compilers follow it with data in the form of the compact models 1 and 2.
func (x *exidx) entry(at uint64) (code []byte, err error) {
	w, ok := x.word(at)
	generic := w>>31 == 0
	if ok && generic {
		at += 4
		w, ok = x.word(at)
	}
	if !ok {
		return nil, fmt.Errorf("the unwind table has no entry at %#x", at)
	}
	if !generic && w>>24&15 == 0 {
		return inline(w), nil
	}
	more := w >> 16 & 255
	code = []byte{byte(w >> 8), byte(w)}
	if generic {
		more = w >> 24
		code = inline(w)
	}
	for ; more > 0 && ok; more-- {
		at += 4
		if w, ok = x.word(at); ok {
			code = binary.BigEndian.AppendUint32(code, w)
		}
	}
	return code, nil
}

// The registers of 32-bit ARM that are used in calls, by DWARF number.
const (
	armSP = 13
	armLR = 14
	armPC = 15
)

// popped is a register that the code pops: it is stored at the value of base plus off.
type popped struct {
	reg, base uint8
	off       int64
}

// taking is the state of the code: the virtual stack pointer, as a register of the frame and an offset, and the popped
// registers.
type taking struct {
	base uint8
	off  int64
	pops []popped
}

var errUnwindCode = errors.New("the unwind table has unknown code")

// pop pops the registers of a mask, the lowest first; bit 0 is register first.
func (s *taking) pop(mask uint32, first uint8) {
	for ; mask != 0; mask, first = mask>>1, first+1 {
		if mask&1 != 0 {
			s.pops = append(s.pops, popped{first, s.base, s.off})
			s.off += 4
		}
	}
}

// run executes code (IHI 0038, table 4). Vector registers are skipped; no walk needs them.
func (s *taking) run(code []byte) error {
	r := reader{data: code}
	for r.more() && r.err == nil {
		op := r.u8()
		switch {
		case op == 0xb0: // finish
			return nil
		case op < 0x40:
			s.off += int64(op&63)<<2 + 4
		case op < 0x80:
			s.off -= int64(op&63)<<2 + 4
		case op < 0x90:
			mask := uint32(op&15)<<8 | uint32(r.u8())
			if mask == 0 {
				return errCannotUnwind
			}
			s.pop(mask, 4)
		case op < 0xa0:
			if op == 0x9d || op == 0x9f {
				return errUnwindCode
			}
			s.base, s.off = op&15, 0
		case op < 0xb0:
			s.pop(2<<(op&7)-1|uint32(op>>3&1)<<10, 4)
		default:
			if err := s.rare(op, &r); err != nil {
				return err
			}
		}
	}
	return r.err
}

// rare executes code starting at 0xb1.
func (s *taking) rare(op byte, r *reader) error {
	switch {
	case op == 0xb1:
		s.pop(uint32(r.u8()&15), 0)
	case op == 0xb2:
		s.off += 0x204 + int64(r.uleb()<<2)
	case op == 0xb3:
		s.off += int64(r.u8()&15)*8 + 12
	case op == 0xb4: // the authentication code of a return address
		s.off += 4
	case op == 0xb5: // the modifier of that code
	case op >= 0xb8 && op < 0xc0:
		s.off += int64(op&7)*8 + 12
	case op == 0xc6 || op == 0xc8 || op == 0xc9:
		s.off += int64(r.u8()&15)*8 + 8
	case op == 0xc7:
		s.off += int64(popCount(r.u8()&15)) * 4
	case op >= 0xc0 && op < 0xc6 || op >= 0xd0 && op < 0xd8:
		s.off += int64(op&7)*8 + 8
	default:
		return errUnwindCode
	}
	return nil
}

func popCount(b byte) (n int) {
	for ; b != 0; b &= b - 1 {
		n++
	}
	return n
}

// row returns the result of the code as a row: the frame address is the final stack pointer, and the registers are
// below it. A register that was popped from a base other than the last one is found by an expression (DW_OP_breg0 and
// following).
func (s *taking) row(pc, start uint64) *row {
	r := &row{pc: pc, cfa: rule{kind: ruleRegister, reg: s.base, off: s.off}, ra: armLR, table: true, start: start}
	hasSP := false
	for _, p := range s.pops {
		one := rule{target: p.reg, kind: ruleOffset, off: p.off - s.off}
		if p.base != s.base {
			one = rule{target: p.reg, kind: ruleExpression, expr: appendSLEB([]byte{0x70 + p.base}, p.off)}
		}
		r.rules = append(r.rules, one)
		hasSP = hasSP || p.reg == armSP
		if p.reg == armPC {
			r.ra = armPC
		}
	}
	r.signal = hasSP && r.ra == armPC // only signal frames hold both
	return r
}

// appendSLEB appends a signed number of variable length (DWARF 5, 7.6).
func appendSLEB(b []byte, v int64) []byte {
	for ; v < -64 || v > 63; v >>= 7 {
		b = append(b, byte(v)|0x80)
	}
	return append(b, byte(v)&0x7f)
}

// armRow returns the row of an address that only the ARM tables cover.
func (t *Table) armRow(pc uint64) (*row, error) {
	t.armOnce.Do(t.loadExidx)
	start, code, err := t.arm.find(pc)
	if err != nil {
		return nil, err
	}
	s := taking{base: armSP}
	if err := s.run(code); err != nil {
		return nil, fmt.Errorf("cannot unwind %#x: %w", pc, err)
	}
	return s.row(pc, start), nil
}
