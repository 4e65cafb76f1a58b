package arm64

import "gotap/arch"

// otherRows holds instructions that are decoded, so that functions can be scanned to their end, but never emulated.
var otherRows = []row{
	{mask: 0x1e000000, value: 0x04000000, name: "sve", exec: notEmulated, class: Scalable},
	{mask: 0x9e000000, value: 0x80000000, name: "sme", exec: notEmulated, class: Scalable},

	{mask: 0xffe0fc00, value: 0x9ac00000, name: "subp", exec: doSUBP},
	{mask: 0xffe0fc00, value: 0xbac00000, name: "subps", exec: doSUBPS},
	{mask: 0xffe0fc00, value: 0x9ac01400, name: "gmi", exec: doGMI},
	{mask: 0xffe0fc00, value: 0x9ac01000, name: "irg", exec: notEmulated, class: MemoryTag},
	{mask: 0xff200000, value: 0xd9200000, name: "ldg, stg and kin", exec: notEmulated, class: MemoryTag, undefined: badTagAccess},

	{mask: 0xfb200c00, value: 0x19000400, name: "cpy or set", exec: notEmulated, class: MemoryCopy, undefined: badMemoryCopy},
	{mask: 0xffffbc00, value: 0xf83f9000, name: "ld64b or st64b", exec: notEmulated, class: Beyond},
	{mask: 0xffe0fc00, value: 0xf820b000, name: "st64bv", exec: notEmulated, class: Beyond},
	{mask: 0xffe0fc00, value: 0xf820a000, name: "st64bv0", exec: notEmulated, class: Beyond},
}

// badTagAccess reports an offset in the instructions that move the tags of a block, which have none.
func badTagAccess(w uint32) bool {
	return field(w, 10, 2) == 0 && field(w, 22, 2) != 1 && field(w, 12, 9) != 0
}

// badMemoryCopy reports a fourth stage of set*, which has three.
func badMemoryCopy(w uint32) bool { return field(w, 22, 2) == 3 && field(w, 14, 2) == 3 }

// notEmulated is the executor of refused classes. It is not called, because Prepare refuses them.
func notEmulated(*cpu, uint32) error {
	return arch.Refusal("cannot emulate the instruction: not emulated")
}

// untagged56 returns a pointer without its tag, as a signed number of 56 bits.
func untagged56(p uint64) uint64 { return uint64(int64(p<<8) >> 8) }

// doSUBP computes the difference of two pointers without their tags.
func doSUBP(c *cpu, w uint32) error {
	c.set(rd(w), untagged56(c.regSP(rn(w)))-untagged56(c.regSP(rm(w))))
	return nil
}

func doSUBPS(c *cpu, w uint32) error {
	c.set(rd(w), c.addFlags(w, untagged56(c.regSP(rn(w))), ^untagged56(c.regSP(rm(w))), 1))
	return nil
}

// doGMI adds a pointer's tag to a set of tags.
func doGMI(c *cpu, w uint32) error {
	c.set(rd(w), c.reg(rm(w))|1<<(c.regSP(rn(w))>>56&15))
	return nil
}
