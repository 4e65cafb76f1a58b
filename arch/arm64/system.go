package arm64

import "gotap/arch"

// systemRows holds hints, barriers, flag instructions, system registers and cache maintenance (Arm ARM DDI 0487,
// C4.1.93). The first row that matches applies.
var systemRows = []row{
	// Hints of pointer authentication. They sign and authenticate x17 or x30.
	{mask: 0xffffffff, value: 0xd50320ff, name: "xpaclri", exec: doXPACLRI, class: PointerStrip},
	{mask: 0xffffff3f, value: 0xd503211f, name: "pac1716 or aut1716", exec: doNothing, class: PointerAuth},
	{mask: 0xffffff1f, value: 0xd503231f, name: "pacsp, pacz, autsp or autz", exec: doNothing, class: PointerAuth},
	{mask: 0xfffff01f, value: 0xd503201f, name: "hint", exec: doNothing}, // nop, yield, wfe, wfi, sev, bti, csdb, … and all that come

	{mask: 0xffffffe0, value: 0xd5031000, name: "wfet", exec: doNothing},
	{mask: 0xffffffe0, value: 0xd5031020, name: "wfit", exec: doNothing},
	// The exception of the breakpoint is a barrier of every kind, and has cleared the monitor.
	{mask: 0xfffff0ff, value: 0xd503305f, name: "clrex", exec: doNothing},
	{mask: 0xfffff0ff, value: 0xd503309f, name: "dsb", exec: doNothing},
	{mask: 0xfffff3ff, value: 0xd503323f, name: "dsb (nxs)", exec: doNothing},
	{mask: 0xfffff0ff, value: 0xd50330bf, name: "dmb", exec: doNothing},
	{mask: 0xfffff0ff, value: 0xd50330df, name: "isb", exec: doNothing},
	{mask: 0xffffffff, value: 0xd50330ff, name: "sb", exec: doNothing},
	{mask: 0xfffff0ff, value: 0xd503307f, name: "tcommit", exec: notEmulated, class: Beyond},

	{mask: 0xffffffff, value: 0xd500401f, name: "cfinv", exec: doCFINV},
	{mask: 0xffffffff, value: 0xd500403f, name: "xaflag", exec: doXAFLAG},
	{mask: 0xffffffff, value: 0xd500405f, name: "axflag", exec: doAXFLAG},
	{mask: 0xfffff0ff, value: 0xd503405f, name: "msr dit", exec: setStateImmediate(stateDIT)},
	{mask: 0xfffff0ff, value: 0xd503403f, name: "msr ssbs", exec: setStateImmediate(stateSSBS)},
	{mask: 0xfffff0ff, value: 0xd503409f, name: "msr tco", exec: setStateImmediate(stateTCO)},
	{mask: 0xfffff0ff, value: 0xd503407f, name: "smstart or smstop", exec: notEmulated, class: Scalable},
	{mask: 0xfff8f01f, value: 0xd500401f, name: "msr (immediate)", exec: notEmulated, class: Privileged},

	{mask: 0xffffffe0, value: 0xd50b7420, name: "dc zva", exec: doDCZVA, class: CacheLine},
	{mask: 0xffffffe0, value: 0xd50b7460, name: "dc gva", exec: notEmulated, class: MemoryTag},
	{mask: 0xffffffe0, value: 0xd50b7480, name: "dc gzva", exec: notEmulated, class: MemoryTag},
	{mask: 0xffffffe0, value: 0xd50b7520, name: "ic ivau", exec: doMaintain, class: CacheLine},
	{mask: 0xffffffe0, value: 0xd50b7a20, name: "dc cvac", exec: doMaintain, class: CacheLine},
	{mask: 0xffffffe0, value: 0xd50b7b20, name: "dc cvau", exec: doMaintain, class: CacheLine},
	{mask: 0xffffffe0, value: 0xd50b7c20, name: "dc cvap", exec: doMaintain, class: CacheLine},
	{mask: 0xffffffe0, value: 0xd50b7d20, name: "dc cvadp", exec: doMaintain, class: CacheLine},
	{mask: 0xffffffe0, value: 0xd50b7e20, name: "dc civac", exec: doMaintain, class: CacheLine},
	{mask: 0xfffff8e0, value: 0xd50b7060, name: "sys #3, c7", exec: notEmulated, class: Beyond},
	{mask: 0xfff80000, value: 0xd5080000, name: "sys", exec: notEmulated, class: Privileged},
	{mask: 0xfff80000, value: 0xd5280000, name: "sysl", exec: notEmulated, class: Privileged},

	{mask: 0xffffffe0, value: 0xd53b4200, name: "mrs nzcv", exec: readState(flagsNZCV)},
	{mask: 0xffffffe0, value: 0xd51b4200, name: "msr nzcv", exec: writeState(flagsNZCV)},
	{mask: 0xffffffe0, value: 0xd53b42a0, name: "mrs dit", exec: readState(stateDIT)},
	{mask: 0xffffffe0, value: 0xd51b42a0, name: "msr dit", exec: writeState(stateDIT)},
	{mask: 0xffffffe0, value: 0xd53b42c0, name: "mrs ssbs", exec: readState(stateSSBS)},
	{mask: 0xffffffe0, value: 0xd51b42c0, name: "msr ssbs", exec: writeState(stateSSBS)},
	{mask: 0xffffffe0, value: 0xd53b42e0, name: "mrs tco", exec: readState(stateTCO)},
	{mask: 0xffffffe0, value: 0xd51b42e0, name: "msr tco", exec: writeState(stateTCO)},
	{mask: 0xffffffe0, value: 0xd53b4400, name: "mrs fpcr", exec: readFPCR, vectors: true},
	{mask: 0xffffffe0, value: 0xd51b4400, name: "msr fpcr", exec: writeFPCR, vectors: true},
	{mask: 0xffffffe0, value: 0xd53b4420, name: "mrs fpsr", exec: readFPSR, vectors: true},
	{mask: 0xffffffe0, value: 0xd51b4420, name: "msr fpsr", exec: writeFPSR, vectors: true},
	// The identification registers, which Linux emulates for processes.
	{mask: 0xfffff800, value: 0xd5380000, name: "mrs (identification)", exec: readSystem, class: SystemRegister},
	// The registers of user mode (op1 3). The kernel decides which of them a process may use.
	{mask: 0xffff0000, value: 0xd53b0000, name: "mrs", exec: readSystem, class: SystemRegister},
	{mask: 0xffff0000, value: 0xd51b0000, name: "msr", exec: writeSystem, class: SystemRegister},
	{mask: 0xfff00000, value: 0xd5300000, name: "mrs (privileged)", exec: notEmulated, class: Privileged},
	{mask: 0xfff00000, value: 0xd5100000, name: "msr (privileged)", exec: notEmulated, class: Privileged},
	{mask: 0xfff00000, value: 0xd5700000, name: "mrrs", exec: notEmulated, class: Privileged},
	{mask: 0xfff00000, value: 0xd5500000, name: "msrr", exec: notEmulated, class: Privileged},
	{mask: 0xfff80000, value: 0xd5480000, name: "sysp", exec: notEmulated, class: Privileged},

	// Signing and authenticating by register; stripping from 010000 on.
	{mask: 0xfffffbe0, value: 0xdac143e0, name: "xpac", exec: doXPAC, class: PointerStrip},
	{mask: 0xffffe000, value: 0xdac10000, name: "pac or aut", exec: doNothing, class: PointerAuth},
	{mask: 0xffffe3e0, value: 0xdac123e0, name: "pacz or autz", exec: doNothing, class: PointerAuth},
	{mask: 0xffe0fc00, value: 0x9ac03000, name: "pacga", exec: notEmulated, class: Beyond},
}

// Bits of PSTATE that a process sets by instructions of their own, in the positions of SPSR_EL1.
const (
	stateSSBS = 1 << 12
	stateDIT  = 1 << 24
	stateTCO  = 1 << 25
)

// setStateImmediate sets one bit of PSTATE from the lowest bit of the immediate.
func setStateImmediate(bit uint64) exec {
	return func(c *cpu, w uint32) error {
		c.setState(bit, uint64(field(w, 8, 1))*bit)
		return nil
	}
}

// setState writes the bits of PSTATE under mask.
func (c *cpu) setState(mask, v uint64) { c.r[regPState] = c.r[regPState]&^mask | v&mask }

func readState(mask uint64) exec {
	return func(c *cpu, w uint32) error {
		c.set(rd(w), c.r[regPState]&mask)
		return nil
	}
}

func writeState(mask uint64) exec {
	return func(c *cpu, w uint32) error {
		c.setState(mask, c.reg(rd(w)))
		return nil
	}
}

func doCFINV(c *cpu, _ uint32) error {
	c.setFlags(c.flags() ^ 2)
	return nil
}

// doXAFLAG converts the flags of a comparison from an alternative format, in which Z with C clear means unordered,
// to Arm's.
func doXAFLAG(c *cpu, _ uint32) error {
	f := c.flags()
	z, carry := f>>2&1, f>>1&1
	n := (1 - carry) & (1 - z)
	v := (1 - carry) & z
	c.setFlags(n<<3 | (z&carry)<<2 | (carry|z)<<1 | v)
	return nil
}

// doAXFLAG converts in the opposite direction.
func doAXFLAG(c *cpu, _ uint32) error {
	f := c.flags()
	z, carry, v := f>>2&1, f>>1&1, f&1
	c.setFlags((z|v)<<2 | (carry&^v)<<1)
	return nil
}

// The bits of FPCR and FPSR that hold what is written to them. They include those that only A32 uses (stride,
// length and flags), which processors keep. They do not include trap enables (12:8, 15) and alternative behaviour
// (2:0, FEAT_AFP).
const (
	fpcrBits = 0x07ff0000
	fpsrBits = 0xf800009f
)

func readFPCR(c *cpu, w uint32) error {
	c.set(rd(w), c.v.Control)
	return nil
}

func readFPSR(c *cpu, w uint32) error {
	c.set(rd(w), c.v.Status)
	return nil
}

func writeFPCR(c *cpu, w uint32) error {
	c.v.Control = c.reg(rd(w)) & fpcrBits
	return nil
}

func writeFPSR(c *cpu, w uint32) error {
	c.v.Status = c.reg(rd(w)) & fpsrBits
	return nil
}

// readSystem reads a register. For a random number (RNDR, RNDRRS), the flags report success.
func readSystem(c *cpu, w uint32) error {
	s, ok := c.mem.(System)
	if !ok {
		return &SystemError{registerOf(w)}
	}
	v, err := s.ReadSystem(registerOf(w))
	if err != nil {
		return err
	}
	if registerOf(w)|1<<0 == RNDRRS {
		c.setFlags(0)
	}
	c.set(rd(w), v)
	return nil
}

func writeSystem(c *cpu, w uint32) error {
	s, ok := c.mem.(System)
	if !ok {
		return &SystemError{registerOf(w)}
	}
	return s.WriteSystem(registerOf(w), c.reg(rd(w)))
}

var zeroes [2048]byte

// doDCZVA zeroes the block around an address. DCZID_EL0 gives the size of the block.
func doDCZVA(c *cpu, w uint32) error {
	s, ok := c.mem.(System)
	if !ok {
		return &SystemError{DCZID}
	}
	id, err := s.ReadSystem(DCZID)
	if err != nil {
		return err
	}
	if id&16 != 0 || id&15 > 9 {
		return arch.Refusal("cannot emulate dc zva: the processor prohibits it")
	}
	size := uint64(4) << (id & 15)
	return c.write(c.reg(rd(w))&^(size-1), zeroes[:size])
}

// doMaintain passes cache maintenance to the memory, if it is a System.
func doMaintain(c *cpu, w uint32) error {
	if s, ok := c.mem.(System); ok {
		return s.MaintainCache(Operation(w>>5&0xffff), untagged(c.reg(rd(w))))
	}
	return nil
}

func doXPAC(c *cpu, w uint32) error {
	c.set(rd(w), stripped(c.reg(rd(w))))
	return nil
}

func doXPACLRI(c *cpu, _ uint32) error {
	c.r[regLR] = stripped(c.r[regLR])
	return nil
}

// stripped returns a pointer without its signature, for addresses of 48 bits. Bit 55 selects the half of the
// address space. The tag of a user address is not part of the signature.
func stripped(p uint64) uint64 {
	const signature = 0x7f << 48
	if p>>55&1 == 1 {
		return p | signature | 0xff<<56
	}
	return p &^ signature
}

var _ arch.VectorSite = (*site)(nil)
