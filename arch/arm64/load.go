package arm64

import "sync"

// loadRows holds the loads and stores of general registers other than atomics (Arm ARM DDI 0487, C4.1.94).
var loadRows = sync.OnceValue(buildLoadRows)

// width is one of the sizes that loads and stores come in: bits 31:30 (size) and 23:22 (opc) of the encoding.
type width struct {
	size, opc uint32
	name      string // of the instruction
}

// prefetch is the opc that is neither load nor store if size is 3.
const prefetch = 2

var widths = []width{
	{0, 0, "strb"}, {0, 1, "ldrb"}, {0, 2, "ldrsb (64-bit)"}, {0, 3, "ldrsb (32-bit)"},
	{1, 0, "strh"}, {1, 1, "ldrh"}, {1, 2, "ldrsh (64-bit)"}, {1, 3, "ldrsh (32-bit)"},
	{2, 0, "str (32-bit)"}, {2, 1, "ldr (32-bit)"}, {2, 2, "ldrsw"},
	{3, 0, "str (64-bit)"}, {3, 1, "ldr (64-bit)"}, {3, prefetch, "prfm"},
}

// form is one of the addressing modes of single registers.
type form struct {
	mask, value uint32 // without size and opc
	name        string
	exec        exec
	writeback   bool
	prefetch    bool // exists for prfm too
	undefined   func(w uint32) bool
}

var forms = []form{
	{mask: 0xffc00000, value: 0x39000000, name: "unsigned offset", exec: doUnsignedOffset, prefetch: true},
	{mask: 0xffe00c00, value: 0x38000000, name: "unscaled", exec: doUnscaled, prefetch: true},
	{mask: 0xffe00c00, value: 0x38000400, name: "post-index", exec: doPostIndex, writeback: true},
	{mask: 0xffe00c00, value: 0x38000800, name: "unprivileged", exec: doUnscaled},
	{mask: 0xffe00c00, value: 0x38000c00, name: "pre-index", exec: doPreIndex, writeback: true},
	{mask: 0xffe00c00, value: 0x38200800, name: "register offset", exec: doRegisterOffset, prefetch: true, undefined: badIndex},
}

func buildLoadRows() []row {
	out := []row{
		{mask: 0xff000000, value: 0x18000000, name: "ldr (literal, 32-bit)", exec: doLiteral},
		{mask: 0xff000000, value: 0x58000000, name: "ldr (literal, 64-bit)", exec: doLiteral},
		{mask: 0xff000000, value: 0x98000000, name: "ldrsw (literal)", exec: doLiteral},
		{mask: 0xff000000, value: 0xd8000000, name: "prfm (literal)", exec: doNothing},
		{mask: 0xff200c00, value: 0xf8200400, name: "ldra", exec: doLDRA, class: PointerAuth},
		{mask: 0xff200c00, value: 0xf8200c00, name: "ldra (pre-index)", exec: doLDRAPre, class: PointerAuth, unpredictable: writesBase},
	}
	for _, k := range widths {
		for _, f := range forms {
			if k.size == 3 && k.opc == prefetch && !f.prefetch {
				continue
			}
			r := row{mask: f.mask, value: f.value | k.size<<30 | k.opc<<22, name: k.name + " (" + f.name + ")", exec: f.exec, undefined: f.undefined}
			if f.writeback {
				r.unpredictable = writesBase
			}
			if k.size == 3 && k.opc == prefetch {
				r.exec = doNothing
			}
			out = append(out, r)
		}
	}
	return append(out, integerPairRows()...)
}

func doNothing(*cpu, uint32) error { return nil }

// writesBase reports a writeback to the register that is loaded or stored.
func writesBase(w uint32) bool { return rn(w) == rd(w) && rn(w) != 31 }

// badIndex reports an invalid extension of an index: only words and doublewords are extended.
func badIndex(w uint32) bool { return field(w, 14, 1) == 0 }

// transfer loads or stores one register according to size and opc of w.
func (c *cpu) transfer(w uint32, addr uint64) error {
	size, opc := field(w, 30, 2), field(w, 22, 2)
	if opc == 0 {
		return c.store(addr, c.reg(rd(w)), 1<<size)
	}
	v, err := c.load(addr, 1<<size)
	if err != nil {
		return err
	}
	if opc >= 2 {
		v = extend(v, 4|size)
	}
	if opc == 3 {
		v &= 0xffffffff
	}
	c.set(rd(w), v)
	return nil
}

func doUnsignedOffset(c *cpu, w uint32) error {
	if err := c.checkSP(rn(w)); err != nil {
		return err
	}
	return c.transfer(w, c.regSP(rn(w))+uint64(field(w, 10, 12))<<field(w, 30, 2))
}

// imm9 returns the signed offset in bits 20:12.
func imm9(w uint32) uint64 { return uint64(signedField(w, 12, 9)) }

// doUnscaled also executes the unprivileged form, which is an ordinary access in a user process.
func doUnscaled(c *cpu, w uint32) error {
	if err := c.checkSP(rn(w)); err != nil {
		return err
	}
	return c.transfer(w, c.regSP(rn(w))+imm9(w))
}

func doPreIndex(c *cpu, w uint32) error {
	if err := c.checkSP(rn(w)); err != nil {
		return err
	}
	addr := c.regSP(rn(w)) + imm9(w)
	if err := c.transfer(w, addr); err != nil {
		return err
	}
	c.setSP(rn(w), addr)
	return nil
}

func doPostIndex(c *cpu, w uint32) error {
	if err := c.checkSP(rn(w)); err != nil {
		return err
	}
	addr := c.regSP(rn(w))
	if err := c.transfer(w, addr); err != nil {
		return err
	}
	c.setSP(rn(w), addr+imm9(w))
	return nil
}

// index returns the offset of the register-offset forms: a register, extended, and shifted by the size of the
// access if S is set.
func (c *cpu) index(w uint32, scale uint32) uint64 {
	return extend(c.reg(rm(w)), field(w, 13, 3)) << (field(w, 12, 1) * scale)
}

func doRegisterOffset(c *cpu, w uint32) error {
	if err := c.checkSP(rn(w)); err != nil {
		return err
	}
	return c.transfer(w, c.regSP(rn(w))+c.index(w, field(w, 30, 2)))
}

func doLiteral(c *cpu, w uint32) error {
	size := 4
	if field(w, 30, 2) == 1 {
		size = 8
	}
	v, err := c.load(c.r[regPC]+uint64(signedField(w, 5, 19)*4), size)
	if err != nil {
		return err
	}
	if field(w, 30, 2) == 2 {
		v = extend(v, 6)
	}
	c.set(rd(w), v)
	return nil
}

// authOffset returns the offset of ldraa and ldrab: ten bits, in doublewords.
func authOffset(w uint32) uint64 {
	return uint64(-int64(field(w, 22, 1))<<12 | int64(field(w, 12, 9))<<3)
}

func doLDRA(c *cpu, w uint32) error {
	if err := c.checkSP(rn(w)); err != nil {
		return err
	}
	v, err := c.load(c.regSP(rn(w))+authOffset(w), 8)
	if err == nil {
		c.set(rd(w), v)
	}
	return err
}

func doLDRAPre(c *cpu, w uint32) error {
	base := c.regSP(rn(w)) + authOffset(w)
	if err := doLDRA(c, w); err != nil {
		return err
	}
	c.setSP(rn(w), base)
	return nil
}
