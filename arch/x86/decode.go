package x86

import (
	"encoding/binary"
	"io"
	"strings"

	"gotap/arch"
)

// maxLen is the maximum length of an instruction (Intel SDM vol. 2, 2.3.11).
const maxLen = 15

// decoder decodes one instruction: a position in the bytes, and the result so far.
type decoder struct {
	in   inst
	code []byte // at most maxLen bytes
	pos  int
	cut  bool // code was cut at maxLen, not at the end of the caller's bytes
	err  error
}

const (
	errTooLong = arch.Refusal("longer than 15 bytes")
	errUnknown = arch.Refusal("not an instruction")
	errNot64   = arch.Refusal("not an instruction of 64-bit mode")
	errAPX     = arch.Refusal("an APX instruction")
)

// decodeInst decodes the instruction at the start of code. The error is io.ErrUnexpectedEOF or a refusal.
func decodeInst(code []byte, long bool) (inst, error) {
	d := decoder{}
	d.in.long = long
	in, err := d.instruction(code)
	if err != nil {
		return inst{}, err
	}
	return *in, nil
}

// instruction is decodeInst for a decoder that is used again and again. The result is valid until the next call.
func (d *decoder) instruction(code []byte) (*inst, error) {
	*d = decoder{in: inst{long: d.in.long}, code: code}
	if len(code) > maxLen {
		d.code, d.cut = code[:maxLen], true
	}
	d.prefixes()
	shape := d.opcode()
	d.operands(shape)
	if d.err != nil {
		return nil, d.err
	}
	if err := d.in.valid(); err != nil {
		return nil, err
	}
	d.in.length = uint8(d.pos)
	copy(d.in.code[:], d.code[:d.pos])
	return &d.in, nil
}

// fail records the first error.
func (d *decoder) fail(err error) {
	if d.err == nil {
		d.err = err
	}
}

// peek returns the byte at the current position, or 0 and an error if there is none.
func (d *decoder) peek() byte {
	if d.pos < len(d.code) {
		return d.code[d.pos]
	}
	if d.cut {
		d.fail(errTooLong)
	} else {
		d.fail(io.ErrUnexpectedEOF)
	}
	return 0
}

func (d *decoder) next() byte {
	b := d.peek()
	if d.err == nil {
		d.pos++
	}
	return b
}

// number reads n bytes as a sign-extended little-endian number.
func (d *decoder) number(n uint8) int64 {
	var p [8]byte
	for i := range n {
		p[i] = d.next()
	}
	v := int64(binary.LittleEndian.Uint64(p[:]))
	if n == 0 {
		return 0
	}
	shift := 64 - 8*uint(n)
	return v << shift >> shift
}

// prefixes reads legacy prefixes and REX. A REX prefix that another prefix follows has no effect (Intel SDM vol. 2,
// 2.2.1).
func (d *decoder) prefixes() {
	in := &d.in
	for d.err == nil {
		b := d.peek()
		switch {
		case b == 0x66:
			in.opsize = true
		case b == 0x67:
			in.addrsize = true
		case b == 0xf0:
			in.lock = true
		case b == 0xf2 || b == 0xf3:
			in.rep = b
		case isSegment(b):
			in.segment(b)
		case in.long && b&0xf0 == 0x40:
			in.rex = b
			in.prefix = uint8(d.pos)
			d.pos++
			continue
		default:
			if in.rex == 0 {
				in.prefix = uint8(d.pos)
			}
			return
		}
		in.rex = 0
		d.pos++
	}
}

func isSegment(b byte) bool {
	return b == 0x26 || b == 0x2e || b == 0x36 || b == 0x3e || b == 0x64 || b == 0x65
}

// segment records a segment prefix. In 64-bit mode, the prefixes of the four flat segments do not cancel an earlier
// fs or gs.
func (in *inst) segment(b byte) {
	in.notrack = in.notrack || b == 0x3e
	if in.long && b < 0x64 {
		return
	}
	in.seg = b
}

// opcode reads the opcode with its escape bytes and returns its letter.
func (d *decoder) opcode() byte {
	in := &d.in
	b := d.next()
	if d.err != nil {
		return 'x'
	}
	if d.vector(b) {
		return d.vectorOpcode(b)
	}
	in.opOff = uint8(d.pos - 1)
	in.opcode = b
	if b != 0x0f {
		return d.oneByte(b)
	}
	in.opmap, in.opOff = map0F, uint8(d.pos)
	in.opcode = d.next()
	switch in.opcode {
	case 0x38:
		return d.escaped(map0F38, escape0F38)
	case 0x3a:
		return d.escaped(map0F3A, escape0F3A)
	}
	return escape0F[in.opcode]
}

func (d *decoder) escaped(opmap uint8, letters string) byte {
	d.in.opmap, d.in.opOff = opmap, uint8(d.pos)
	d.in.opcode = d.next()
	return letters[d.in.opcode]
}

func (d *decoder) oneByte(b byte) byte {
	if !d.in.long {
		return legacyMap[b]
	}
	if strings.IndexByte(long64Gone, b) >= 0 {
		d.fail(errNot64)
	}
	return legacyMap[b]
}

// operands reads what the letter says.
func (d *decoder) operands(shape byte) {
	in := &d.in
	switch shape {
	case 'x', 'p':
		d.fail(errUnknown)
	case 'm', 'M', 'Z', 'G', 'g', 'c':
		d.modRM(shape == 'c')
	case 'o':
		in.dispOff, in.dispLen = uint8(d.pos), in.addressSize()
		in.disp = d.number(in.dispLen)
	}
	in.immOff = uint8(d.pos)
	first, second := in.immediates(shape)
	in.imm = d.number(first)
	d.number(second)
	in.immLen = first + second
}

// immediates returns the length of the first immediate, and of what follows it.
func (in *inst) immediates(shape byte) (first, second uint8) {
	switch shape {
	case 'b', 'M':
		return 1, 0
	case 'w':
		return 2, 0
	case 'e':
		return 2, 1
	case 'z', 'Z':
		in.xbeginDisplacement()
		return in.immSize(), 0
	case 'v':
		return in.operandSize(), 0
	case 'f':
		return in.immSize(), 2
	case 'r':
		in.relLen = 1
		return 1, 0
	case 'R':
		in.relLen = in.immSize()
		return in.relLen, 0
	case 'D':
		return 4, 0
	}
	return in.groupImmediates(shape)
}

// groupImmediates handles the opcodes whose immediates depend on more than the opcode: test in group 3, and extrq
// and insertq of SSE4a.
func (in *inst) groupImmediates(shape byte) (first, second uint8) {
	switch {
	case shape == 'g' && in.regField() < 2:
		return 1, 0
	case shape == 'G' && in.regField() < 2:
		return in.immSize(), 0
	case in.is(map0F, 0x78) && (in.opsize || in.rep == 0xf2):
		return 1, 1
	}
	return 0, 0
}

// xbeginDisplacement marks xbegin, the only instruction with a branch displacement behind ModRM. A displacement of
// 16 bits does not truncate the target (Intel SDM vol. 2, XBEGIN).
func (in *inst) xbeginDisplacement() {
	if in.begins() {
		in.relLen = in.immSize()
	}
}

// begins reports whether the instruction is xbegin.
func (in *inst) begins() bool { return in.is(mapLegacy, 0xc7) && in.modrm == 0xf8 }

// immSize returns the size of an immediate that has no 64-bit form. With a 66 prefix, a branch displacement has 16
// bits in 64-bit mode too, as on AMD's processors. Intel's ignore the prefix, so Prepare refuses these branches.
func (in *inst) immSize() uint8 {
	if in.opsize && in.rex&rexW == 0 {
		return 2
	}
	return 4
}

// addressSize returns the size of an address in bytes.
func (in *inst) addressSize() uint8 {
	switch {
	case in.long && !in.addrsize:
		return 8
	case in.long || !in.addrsize:
		return 4
	}
	return 2
}

// modRM reads ModRM, SIB and displacement.
func (d *decoder) modRM(registers bool) {
	in := &d.in
	in.hasRM, in.rmOff = true, uint8(d.pos)
	in.modrm = d.next()
	if registers {
		in.modrm |= 0xc0
	}
	if in.mod() == 3 {
		return
	}
	if in.addressSize() == 2 {
		in.dispLen = disp16(in.mod(), in.modrm&7)
	} else {
		d.sib()
	}
	in.dispOff = uint8(d.pos)
	in.disp = d.number(in.dispLen)
}

func disp16(mod, rm uint8) uint8 {
	if mod == 0 && rm == 6 {
		return 2
	}
	return mod // 0, 1 or 2 bytes
}

// sib reads the SIB byte, if there is one, and determines the length of the displacement.
func (d *decoder) sib() {
	in := &d.in
	base := in.modrm & 7
	if base == 4 {
		in.hasSIB = true
		in.sib = d.next()
		base = in.sib & 7
	}
	switch {
	case in.mod() == 1:
		in.dispLen = 1
	case in.mod() == 2:
		in.dispLen = 4
	case base == 5:
		in.dispLen = 4
		in.ripRel = in.long && !in.hasSIB
	}
}

// decode is decodeInst with the errors that package arch documents.
func decode(code []byte, addr uint64, long bool) (*inst, error) {
	in, err := decodeInst(code, long)
	if err == nil {
		return &in, nil
	}
	if r, ok := err.(arch.Refusal); ok {
		return nil, &arch.RefusedError{Addr: addr, Reason: string(r)}
	}
	return nil, err
}
