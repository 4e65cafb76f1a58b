package arm64

import (
	"encoding/binary"
	"sync"
)

// atomicRows holds exclusives, ordered accesses and atomics (Arm ARM DDI 0487, C4.1.94). A function whose name
// begins with "lone" executes an exclusive by itself: the exception of gotap's breakpoint clears the monitor.
var atomicRows = sync.OnceValue(buildAtomicRows)

func buildAtomicRows() []row {
	out := []row{
		// Every size in one row: bits 31:30.
		{mask: 0x3fe08000, value: 0x08000000, name: "stxr", exec: loneStoreExclusive, class: Exclusive, unpredictable: badStatus},
		{mask: 0x3fe08000, value: 0x08008000, name: "stlxr", exec: loneStoreExclusive, class: Exclusive, unpredictable: badStatus},
		{mask: 0x3fe08000, value: 0x08400000, name: "ldxr", exec: doOrderedLoad, class: Exclusive},
		{mask: 0x3fe08000, value: 0x08408000, name: "ldaxr", exec: doOrderedLoad, class: Exclusive},
		{mask: 0xbfe08000, value: 0x88200000, name: "stxp", exec: loneStorePair, class: Exclusive, unpredictable: badStatusPair},
		{mask: 0xbfe08000, value: 0x88208000, name: "stlxp", exec: loneStorePair, class: Exclusive, unpredictable: badStatusPair},
		{mask: 0xbfe08000, value: 0x88600000, name: "ldxp", exec: loneLoadPair, class: Exclusive, unpredictable: sameTargets},
		{mask: 0xbfe08000, value: 0x88608000, name: "ldaxp", exec: loneLoadPair, class: Exclusive, unpredictable: sameTargets},

		{mask: 0x3fe08000, value: 0x08800000, name: "stllr", exec: doOrderedStore},
		{mask: 0x3fe08000, value: 0x08808000, name: "stlr", exec: doOrderedStore},
		{mask: 0x3fe08000, value: 0x08c00000, name: "ldlar", exec: doOrderedLoad},
		{mask: 0x3fe08000, value: 0x08c08000, name: "ldar", exec: doOrderedLoad},
		{mask: 0x3ffffc00, value: 0x38bfc000, name: "ldapr", exec: doLDAPR},

		{mask: 0x3fa07c00, value: 0x08a07c00, name: "cas", exec: doCAS, class: Atomic},
		{mask: 0xbfa07c00, value: 0x08207c00, name: "casp", exec: doCASP, class: Atomic, undefined: oddPair},
		{mask: 0x3f20fc00, value: 0x38208000, name: "swp", exec: atomic(swap), class: Atomic},
		{mask: 0xff20fc00, value: 0x19208000, name: "swpp", exec: atomicPair(swap), class: Atomic, undefined: zeroPair, unpredictable: sameAtomicPair},
		{mask: 0xff20fc00, value: 0x19201000, name: "ldclrp", exec: atomicPair(bitClear), class: Atomic, undefined: zeroPair, unpredictable: sameAtomicPair},
		{mask: 0xff20fc00, value: 0x19203000, name: "ldsetp", exec: atomicPair(bitSet), class: Atomic, undefined: zeroPair, unpredictable: sameAtomicPair},

		{mask: 0xbfa0ec00, value: 0x99000800, name: "stilp or ldiapp", exec: notEmulated, class: Beyond},
		{mask: 0xbfbffc00, value: 0x99800800, name: "stlr or ldapr (writeback)", exec: notEmulated, class: Beyond},

		{mask: 0x3fe00c00, value: 0x19000000, name: "stlur", exec: doOrderedUnscaled},
		{mask: 0x3fe00c00, value: 0x19400000, name: "ldapur", exec: doOrderedUnscaled},
		{mask: 0x3fe00c00, value: 0x19800000, name: "ldapurs (64-bit)", exec: doOrderedUnscaled, undefined: func(w uint32) bool { return w>>30 == 3 }},
		{mask: 0x3fe00c00, value: 0x19c00000, name: "ldapurs (32-bit)", exec: doOrderedUnscaled, undefined: func(w uint32) bool { return w>>30 >= 2 }},
	}
	for n, op := range []struct {
		name string
		f    modify
	}{
		{"ldadd", func(w uint32, a, b uint64) uint64 { return a + b }},
		{"ldclr", bitClear}, {"ldeor", func(w uint32, a, b uint64) uint64 { return a ^ b }}, {"ldset", bitSet},
		{"ldsmax", atomicSigned(true)}, {"ldsmin", atomicSigned(false)},
		{"ldumax", func(w uint32, a, b uint64) uint64 { return max(a, b) }}, {"ldumin", func(w uint32, a, b uint64) uint64 { return min(a, b) }},
	} {
		out = append(out, row{mask: 0x3f20fc00, value: 0x38200000 | uint32(n)<<12, name: op.name, exec: atomic(op.f), class: Atomic})
	}
	return out
}

// accessSize returns the size of an access in bytes, by bits 31:30.
func accessSize(w uint32) int { return 1 << (w >> 30) }

// badStatus reports a store-exclusive whose status register is also its value or its address.
func badStatus(w uint32) bool {
	return rm(w) == rd(w) || rm(w) == rn(w) && rn(w) != 31
}

func badStatusPair(w uint32) bool { return badStatus(w) || rm(w) == ra(w) }

// ordered returns the address of an access that must be aligned.
func (c *cpu) ordered(w uint32, size int, write bool) (uint64, error) {
	if err := c.checkSP(rn(w)); err != nil {
		return 0, err
	}
	addr := c.regSP(rn(w))
	return addr, checkAligned(addr, size, write)
}

// loneStoreExclusive fails, because the monitor is clear. It does not access memory.
func loneStoreExclusive(c *cpu, w uint32) error {
	if err := c.checkSP(rn(w)); err != nil {
		return err
	}
	c.set(rm(w), 1)
	return nil
}

func loneStorePair(c *cpu, w uint32) error { return loneStoreExclusive(c, w) }

func doOrderedLoad(c *cpu, w uint32) error {
	addr, err := c.ordered(w, accessSize(w), false)
	if err != nil {
		return err
	}
	v, err := c.load(addr, accessSize(w))
	if err == nil {
		c.set(rd(w), v)
	}
	return err
}

// doLDAPR accepts any address: processors that have it allow unaligned words that do not cross a 16-byte boundary.
func doLDAPR(c *cpu, w uint32) error {
	if err := c.checkSP(rn(w)); err != nil {
		return err
	}
	v, err := c.load(c.regSP(rn(w)), accessSize(w))
	if err == nil {
		c.set(rd(w), v)
	}
	return err
}

func doOrderedStore(c *cpu, w uint32) error {
	addr, err := c.ordered(w, accessSize(w), true)
	if err != nil {
		return err
	}
	return c.store(addr, c.reg(rd(w)), accessSize(w))
}

// loneLoadPair loads both registers of a load-exclusive pair.
func loneLoadPair(c *cpu, w uint32) error {
	size := 4 << field(w, 30, 1)
	addr, err := c.ordered(w, 2*size, false)
	if err != nil {
		return err
	}
	lo, hi, err := c.loadPair(addr, size)
	if err == nil {
		c.set(rd(w), lo)
		c.set(ra(w), hi)
	}
	return err
}

// doOrderedUnscaled executes stlur, ldapur and its signed forms.
func doOrderedUnscaled(c *cpu, w uint32) error {
	if err := c.checkSP(rn(w)); err != nil {
		return err
	}
	addr := c.regSP(rn(w)) + imm9(w)
	if err := checkAligned(addr, accessSize(w), field(w, 22, 2) == 0); err != nil {
		return err
	}
	return c.transfer(w, addr)
}

// modify computes the new value of an atomic from the old value and the operand, both of the size of the access and
// zero-extended.
type modify func(w uint32, old, operand uint64) uint64

func swap(_ uint32, _, b uint64) uint64     { return b }
func bitClear(_ uint32, a, b uint64) uint64 { return a &^ b }
func bitSet(_ uint32, a, b uint64) uint64   { return a | b }

func atomicSigned(greatest bool) modify {
	return func(w uint32, a, b uint64) uint64 {
		if (int64(extend(a, 4|w>>30)) > int64(extend(b, 4|w>>30))) == greatest {
			return a
		}
		return b
	}
}

// atomic makes the executor of a read-modify-write of one word.
func atomic(f modify) exec {
	return func(c *cpu, w uint32) error {
		size := accessSize(w)
		addr, err := c.ordered(w, size, true)
		if err != nil {
			return err
		}
		old, err := c.load(addr, size)
		if err != nil {
			return err
		}
		if err := c.store(addr, f(w, old, extend(c.reg(rm(w)), w>>30)), size); err != nil {
			return err
		}
		c.set(rd(w), old)
		return nil
	}
}

// zeroPair reports a 128-bit atomic with register 31, which does not exist.
func zeroPair(w uint32) bool { return rd(w) == 31 || rm(w) == 31 }

func sameAtomicPair(w uint32) bool { return rd(w) == rm(w) }

// atomicPair makes the executor of a read-modify-write of 128 bits, whose operands and results are the same two
// registers (FEAT_LSE128).
func atomicPair(f modify) exec {
	return func(c *cpu, w uint32) error {
		addr, err := c.ordered(w, 16, true)
		if err != nil {
			return err
		}
		lo, hi, err := c.loadPair(addr, 8)
		if err != nil {
			return err
		}
		if err := c.storePair(addr, f(w, lo, c.reg(rd(w))), f(w, hi, c.reg(rm(w))), 8); err != nil {
			return err
		}
		c.set(rd(w), lo)
		c.set(rm(w), hi)
		return nil
	}
}

// doCAS compares and swaps. The memory must be writable even if the comparison fails.
func doCAS(c *cpu, w uint32) error {
	size := accessSize(w)
	addr, err := c.ordered(w, size, true)
	if err != nil {
		return err
	}
	old, err := c.load(addr, size)
	if err != nil {
		return err
	}
	v := old
	if old == extend(c.reg(rm(w)), w>>30) {
		v = c.reg(rd(w))
	}
	if err := c.store(addr, v, size); err != nil {
		return err
	}
	c.set(rm(w), old)
	return nil
}

func oddPair(w uint32) bool { return rd(w)&1 == 1 || rm(w)&1 == 1 }

// doCASP compares and swaps two registers.
func doCASP(c *cpu, w uint32) error {
	size := 4 << field(w, 30, 1)
	addr, err := c.ordered(w, 2*size, true)
	if err != nil {
		return err
	}
	lo, hi, err := c.loadPair(addr, size)
	if err != nil {
		return err
	}
	v, u := lo, hi
	if c.equalPair(w, size) {
		v, u = c.reg(rd(w)), c.reg(rd(w)+1)
	}
	if err := c.storePair(addr, v, u, size); err != nil {
		return err
	}
	c.set(rm(w), lo)
	c.set(rm(w)+1, hi)
	return nil
}

// equalPair compares the two words just read with the registers that casp compares.
func (c *cpu) equalPair(w uint32, size int) bool {
	a, b := c.reg(rm(w)), c.reg(rm(w)+1)
	if size == 8 {
		return binary.LittleEndian.Uint64(c.buf[:]) == a && binary.LittleEndian.Uint64(c.buf[8:]) == b
	}
	return binary.LittleEndian.Uint32(c.buf[:]) == uint32(a) && binary.LittleEndian.Uint32(c.buf[4:]) == uint32(b)
}
