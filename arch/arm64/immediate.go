package arm64

// immediateRows is data processing with an immediate (Arm ARM DDI 0487, C4.1.86).
var immediateRows = []row{
	{mask: 0x9f000000, value: 0x90000000, name: "adrp", exec: doADRP},
	{mask: 0x9f000000, value: 0x10000000, name: "adr", exec: doADR},
}

func immADR(w uint32) uint64 { return uint64(signedField(w, 5, 19)<<2 | int64(field(w, 29, 2))) }

func doADR(c *cpu, w uint32) error {
	c.set(rd(w), c.r[regPC]+immADR(w))
	return nil
}

func doADRP(c *cpu, w uint32) error {
	c.set(rd(w), c.r[regPC]&^0xfff+immADR(w)<<12)
	return nil
}
