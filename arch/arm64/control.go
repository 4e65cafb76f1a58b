package arm64

import "gotap/arch"

// controlRows holds branches and exceptions (Arm ARM DDI 0487, C4.1.93).
var controlRows = []row{
	{mask: 0xfc000000, value: 0x14000000, name: "b", exec: doB, control: arch.Jump},
	{mask: 0xfc000000, value: 0x94000000, name: "bl", exec: doBL, control: arch.Call},
	{mask: 0xff000010, value: 0x54000000, name: "b.cond", exec: doBCond, control: arch.CondJump},
	{mask: 0xff000010, value: 0x54000010, name: "bc.cond", exec: doBCond, control: arch.CondJump},
	{mask: 0x7f000000, value: 0x34000000, name: "cbz", exec: doCBZ, control: arch.CondJump},
	{mask: 0x7f000000, value: 0x35000000, name: "cbnz", exec: doCBNZ, control: arch.CondJump},
	{mask: 0x7f000000, value: 0x36000000, name: "tbz", exec: doTBZ, control: arch.CondJump},
	{mask: 0x7f000000, value: 0x37000000, name: "tbnz", exec: doTBNZ, control: arch.CondJump},

	{mask: 0xfffffc1f, value: 0xd61f0000, name: "br", exec: doBR, control: arch.IndirJump},
	{mask: 0xfffffc1f, value: 0xd63f0000, name: "blr", exec: doBLR, control: arch.IndirCall},
	{mask: 0xfffffc1f, value: 0xd65f0000, name: "ret", exec: doRET, control: arch.Return},
	{mask: 0xfffff81f, value: 0xd61f081f, name: "braz", exec: doBRA, control: arch.IndirJump, class: PointerAuth},
	{mask: 0xfffff81f, value: 0xd63f081f, name: "blraz", exec: doBLRA, control: arch.IndirCall, class: PointerAuth},
	{mask: 0xfffff800, value: 0xd71f0800, name: "bra", exec: doBRA, control: arch.IndirJump, class: PointerAuth},
	{mask: 0xfffff800, value: 0xd73f0800, name: "blra", exec: doBLRA, control: arch.IndirCall, class: PointerAuth},
	{mask: 0xfffffbff, value: 0xd65f0bff, name: "reta", exec: doRETA, control: arch.Return, class: PointerAuth},

	{mask: 0xffe0001f, value: 0xd4000001, name: "svc", exec: doSVC, control: arch.Syscall, class: SystemCall},
	{mask: 0xffe0001f, value: 0xd4200000, name: "brk", exec: notEmulated, control: arch.Trap, class: Breakpoint},
	{mask: 0xffe0001f, value: 0xd4400000, name: "hlt", exec: notEmulated, control: arch.Trap, class: Breakpoint},
	{mask: 0xffff0000, value: 0x00000000, name: "udf", exec: notEmulated, control: arch.Trap, class: Breakpoint},
	{mask: 0xffe0001f, value: 0xd4000002, name: "hvc", exec: notEmulated, control: arch.Trap, class: Privileged},
	{mask: 0xffe0001f, value: 0xd4000003, name: "smc", exec: notEmulated, control: arch.Trap, class: Privileged},
	{mask: 0xffe0001f, value: 0xd4a00001, name: "dcps1", exec: notEmulated, control: arch.Trap, class: Privileged},
	{mask: 0xffe0001f, value: 0xd4a00002, name: "dcps2", exec: notEmulated, control: arch.Trap, class: Privileged},
	{mask: 0xffe0001f, value: 0xd4a00003, name: "dcps3", exec: notEmulated, control: arch.Trap, class: Privileged},
	{mask: 0xffe0001f, value: 0xd4600000, name: "tcancel", exec: notEmulated, control: arch.Trap, class: Beyond},
	{mask: 0xffffffff, value: 0xd69f03e0, name: "eret", exec: notEmulated, control: arch.Trap, class: Privileged},
	{mask: 0xfffffbff, value: 0xd69f0bff, name: "ereta", exec: notEmulated, control: arch.Trap, class: Privileged},
	{mask: 0xffffffff, value: 0xd6bf03e0, name: "drps", exec: notEmulated, control: arch.Trap, class: Privileged},
}

// jump continues at pc plus an offset in instructions.
func (c *core) jump(offset int64) { c.next = c.r[regPC] + uint64(offset*4) }

// link writes the return address to the link register.
func (c *core) link() { c.r[regLR] = c.r[regPC] + 4 }

func doB(c *cpu, w uint32) error {
	c.jump(signedField(w, 0, 26))
	return nil
}

func doBL(c *cpu, w uint32) error {
	c.link()
	return doB(c, w)
}

func doBCond(c *cpu, w uint32) error {
	if c.holds(field(w, 0, 4)) {
		c.jump(signedField(w, 5, 19))
	}
	return nil
}

func doCBZ(c *cpu, w uint32) error {
	if sized(w, c.reg(rd(w))) == 0 {
		c.jump(signedField(w, 5, 19))
	}
	return nil
}

func doCBNZ(c *cpu, w uint32) error {
	if sized(w, c.reg(rd(w))) != 0 {
		c.jump(signedField(w, 5, 19))
	}
	return nil
}

// testedBit returns the bit that tbz and tbnz test, in the lowest place.
func (c *core) testedBit(w uint32) uint64 {
	return c.reg(rd(w)) >> (field(w, 31, 1)<<5 | field(w, 19, 5)) & 1
}

func doTBZ(c *cpu, w uint32) error {
	if c.testedBit(w) == 0 {
		c.jump(signedField(w, 5, 14))
	}
	return nil
}

func doTBNZ(c *cpu, w uint32) error {
	if c.testedBit(w) != 0 {
		c.jump(signedField(w, 5, 14))
	}
	return nil
}

// The branch types that indirect branches leave for the landing pad (PSTATE.BTYPE).
const (
	btypeJump = 1 << 10 // bti c and bti j both accept it, so it suits a target whatever page it came from
	btypeCall = 2 << 10
)

// branchTo continues at an address without its tag, because the program counter has none.
func (c *core) branchTo(addr uint64) { c.next = untagged(addr) }

func doBR(c *cpu, w uint32) error {
	c.btype = btypeJump
	c.branchTo(c.reg(rn(w)))
	return nil
}

func doBLR(c *cpu, w uint32) error {
	c.btype = btypeCall
	c.branchTo(c.reg(rn(w)))
	c.link()
	return nil
}

func doRET(c *cpu, w uint32) error {
	c.branchTo(c.reg(rn(w)))
	return nil
}

func doRETA(c *cpu, _ uint32) error {
	c.branchTo(c.authentic(c.r[regLR]))
	return nil
}

func doBRA(c *cpu, w uint32) error {
	c.btype = btypeJump
	c.branchTo(c.authentic(c.reg(rn(w))))
	return nil
}

func doBLRA(c *cpu, w uint32) error {
	c.btype = btypeCall
	c.branchTo(c.authentic(c.reg(rn(w))))
	c.link()
	return nil
}

// doSVC changes nothing, not even the program counter: the kernel executes the original instruction.
func doSVC(c *cpu, _ uint32) error {
	c.next, c.btype = c.r[regPC], c.r[regPState]&btypeMask
	return nil
}
