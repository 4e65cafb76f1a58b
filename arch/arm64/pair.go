package arm64

// integerPairRows returns the loads and stores of two general registers (Arm ARM DDI 0487, C4.1.94: no-allocate,
// post-index, offset, pre-index).
func integerPairRows() []row {
	kinds := []struct {
		value uint32
		name  string
	}{
		{0x28000000, "stp (32-bit"}, {0x28400000, "ldp (32-bit"}, {0x68400000, "ldpsw ("},
		{0xa8000000, "stp (64-bit"}, {0xa8400000, "ldp (64-bit"}, {0x68000000, "stgp ("},
	}
	modes := []struct {
		value         uint32
		name          string
		exec          exec
		unpredictable func(uint32) bool
	}{
		{0 << 23, ", no-allocate)", doPairOffset, sameTargets},
		{1 << 23, ", post-index)", doPairPost, badPairWriteback},
		{2 << 23, ", offset)", doPairOffset, sameTargets},
		{3 << 23, ", pre-index)", doPairPre, badPairWriteback},
	}
	var out []row
	for _, k := range kinds {
		for _, m := range modes {
			r := row{mask: 0xffc00000, value: k.value | m.value, name: k.name + m.name, exec: m.exec, unpredictable: m.unpredictable}
			if k.value>>30 == 1 {
				if m.value == 0 {
					continue // neither ldpsw nor stgp
				}
				if k.value>>22&1 == 0 {
					r.class, r.exec, r.unpredictable = MemoryTag, notEmulated, nil
				}
			}
			out = append(out, r)
		}
	}
	return out
}

// sameTargets reports a load of two values into one register.
func sameTargets(w uint32) bool { return field(w, 22, 1) == 1 && rd(w) == ra(w) }

// badPairWriteback also reports a writeback to a register that is loaded or stored.
func badPairWriteback(w uint32) bool {
	return sameTargets(w) || rn(w) != 31 && (rn(w) == rd(w) || rn(w) == ra(w))
}

// pairSize returns the size of one of the registers in bytes.
func pairSize(w uint32) int {
	if wide(w) {
		return 8
	}
	return 4
}

// pairOffset returns the scaled offset of bits 21:15.
func pairOffset(w uint32) uint64 { return uint64(signedField(w, 15, 7) * int64(pairSize(w))) }

// transferPair loads or stores both registers.
func (c *cpu) transferPair(w uint32, addr uint64) error {
	if err := c.checkSP(rn(w)); err != nil {
		return err
	}
	size := pairSize(w)
	if field(w, 22, 1) == 0 {
		return c.storePair(addr, c.reg(rd(w)), c.reg(ra(w)), size)
	}
	lo, hi, err := c.loadPair(addr, size)
	if err != nil {
		return err
	}
	if field(w, 30, 1) == 1 {
		lo, hi = extend(lo, 6), extend(hi, 6)
	}
	c.set(rd(w), lo)
	c.set(ra(w), hi)
	return nil
}

func doPairOffset(c *cpu, w uint32) error {
	return c.transferPair(w, c.regSP(rn(w))+pairOffset(w))
}

func doPairPre(c *cpu, w uint32) error {
	addr := c.regSP(rn(w)) + pairOffset(w)
	if err := c.transferPair(w, addr); err != nil {
		return err
	}
	c.setSP(rn(w), addr)
	return nil
}

func doPairPost(c *cpu, w uint32) error {
	addr := c.regSP(rn(w))
	if err := c.transferPair(w, addr); err != nil {
		return err
	}
	c.setSP(rn(w), addr+pairOffset(w))
	return nil
}
