package arm

import (
	"encoding/binary"
	"sync"

	"gotap/arch"
	"gotap/arch/ieee"
)

// The indices of registers in arch.Regs, in the order of the kernel's struct pt_regs. R0 to R15 are 0 to 15.
const (
	regFP   = 11
	regIP   = 12
	regSP   = 13
	regLR   = 14
	regPC   = 15
	regCPSR = 16
)

// The bits of CPSR.
const (
	flagN   = 1 << 31
	flagZ   = 1 << 30
	flagC   = 1 << 29
	flagV   = 1 << 28
	flagQ   = 1 << 27
	flagE   = 1 << 9 // big-endian data
	flagT   = 1 << 5 // Thumb
	maskGE  = 15 << 16
	maskIT  = 3<<25 | 63<<10
	userMSR = 0xf8000000 // the bits that MSR changes with mask bit 3
)

// cpu is the machine that executes one instruction: general registers, memory, vector registers. Its registers are
// copies. run commits them when the instruction has succeeded, so a failed instruction changes nothing.
type cpu struct {
	core
	bus
	vectorUnit
}

// core holds the general registers and the state of the instruction stream.
type core struct {
	r     [15]uint32 // r0 to r14
	cpsr  uint32     // ITSTATE in it is that before the instruction, until the instruction writes it
	pc    uint32     // of the instruction itself
	next  uint32     // where execution continues
	thumb bool       // the instruction set of the instruction; that of the next one is in cpsr
	it    uint32     // ITSTATE before the instruction, 0 outside IT blocks
	newIT bool       // the instruction has set ITSTATE itself
	taken bool       // the instruction has branched
}

// bus accesses memory.
type bus struct {
	mem       arch.Memory
	bigEndian bool      // CPSR.E: data accesses are refused
	buf       [128]byte // data read, or data to write
}

// vectorUnit holds the registers that VFP and NEON share.
type vectorUnit struct {
	v  arch.Vectors
	fp ieee.Env // rounding and other modes of the instruction, and the exceptions that it raises
}

// cpus holds machines for reuse. An instruction is called through its row, so a cpu on the stack would escape to
// the heap, and a hit must not allocate.
var cpus = sync.Pool{New: func() any { return new(cpu) }}

// run executes one instruction. On success, regs and v are updated; on error, they are unchanged. v may be nil for
// instructions that do not use the vector unit.
func (in *inst) run(regs *arch.Regs, v *arch.Vectors, mem arch.Memory) error {
	if in.row.vectors && v == nil {
		return errNeedsVectors
	}
	c := cpus.Get().(*cpu)
	c.load32(regs, in)
	c.mem, c.bigEndian = mem, c.cpsr&flagE != 0
	if in.row.vectors {
		c.v = *v
	}
	var err error
	if in.row.notInIT && c.inIT() {
		err = errInITBlock
	} else if in.executes(c.cpsr) {
		err = in.row.exec(c, in.word)
		if err == nil && c.taken && c.inIT() && !c.lastInIT() {
			err = errInITBlock
		}
	}
	if err == nil {
		c.commit(regs)
		if in.row.vectors {
			*v = c.v
		}
	}
	c.mem = nil
	cpus.Put(c)
	return err
}

// load32 copies the registers into the machine.
func (c *core) load32(regs *arch.Regs, in *inst) {
	for i := range c.r {
		c.r[i] = uint32(regs[i])
	}
	c.cpsr, c.pc = uint32(regs[regCPSR]), uint32(regs[regPC])
	c.next = c.pc + in.size
	c.thumb, c.newIT, c.taken, c.it = in.thumb, false, false, 0
	if in.thumb {
		c.it = itState(c.cpsr)
	}
}

// commit copies the registers back. ITSTATE advances after every Thumb instruction of an IT block except IT itself.
// A condition without remaining instructions, which IT never produces, stays.
func (c *core) commit(regs *arch.Regs) {
	for i := range c.r {
		regs[i] = uint64(c.r[i])
	}
	if !c.newIT && c.inIT() {
		c.cpsr = withIT(c.cpsr, advanceIT(c.it))
	}
	regs[regPC], regs[regCPSR] = uint64(c.next), uint64(c.cpsr)
}

// itState returns the ITSTATE of a CPSR: IT[7:2] in bits 15 to 10, IT[1:0] in bits 26 and 25.
func itState(cpsr uint32) uint32 { return cpsr>>8&0xfc | cpsr>>25&3 }

// withIT returns cpsr with ITSTATE replaced.
func withIT(cpsr, it uint32) uint32 { return cpsr&^maskIT | it>>2<<10 | it&3<<25 }

// advanceIT returns ITSTATE after an instruction of the block (ITAdvance).
func advanceIT(it uint32) uint32 {
	if it&7 == 0 {
		return 0
	}
	return it&0xe0 | it<<1&0x1f
}

// inIT reports whether the instruction is in an IT block, and lastInIT whether it is the last one.
func (c *core) inIT() bool     { return c.it&15 != 0 }
func (c *core) lastInIT() bool { return c.it&15 == 8 }

// holds reports whether the flags of cpsr meet a condition (ConditionHolds). 15 always holds.
func holds(cond, cpsr uint32) bool {
	n, z, carry, v := cpsr&flagN != 0, cpsr&flagZ != 0, cpsr&flagC != 0, cpsr&flagV != 0
	var ok bool
	switch cond >> 1 {
	case 0:
		ok = z
	case 1:
		ok = carry
	case 2:
		ok = n
	case 3:
		ok = v
	case 4:
		ok = carry && !z
	case 5:
		ok = n == v
	case 6:
		ok = n == v && !z
	default:
		return true
	}
	return ok != (cond&1 == 1)
}

// field returns n bits of an instruction, from bit lo up; bit returns one.
func field(w uint32, lo, n int) uint32 { return w >> lo & (1<<n - 1) }
func bit(w uint32, n int) bool         { return w>>n&1 == 1 }

// ones returns 1 for true.
func ones(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

// reg returns register n; r15 is the address of the instruction plus 8, or plus 4 in Thumb.
func (c *core) reg(n uint32) uint32 {
	if n < 15 {
		return c.r[n]
	}
	if c.thumb {
		return c.pc + 4
	}
	return c.pc + 8
}

// alignedPC returns r15 as literals and ADR use it.
func (c *core) alignedPC() uint32 { return c.reg(15) &^ 3 }

// set writes register n, which is not r15: instructions that may write r15 call the function for their rule.
func (c *core) set(n, v uint32) { c.r[n] = v }

// branchTo continues at addr in the same instruction set (BranchWritePC).
func (c *core) branchTo(addr uint32) {
	c.taken = true
	if c.thumb {
		c.next = addr &^ 1
		return
	}
	c.next = addr &^ 3
}

// exchangeTo continues at addr, in the instruction set of its bit 0 (BXWritePC). An A32 address between two
// instructions is accepted too: the processor faults there without changing the program counter (one of the two
// behaviours that DDI 0487 allows). It returns nil, for its callers' convenience.
func (c *core) exchangeTo(addr uint32) error {
	c.taken = true
	c.cpsr &^= flagT
	if addr&1 == 1 {
		c.cpsr |= flagT
	}
	c.next = addr &^ 1
	return nil
}

// writeALU writes the result of a data-processing instruction. Writing r15 is a branch, which may change the
// instruction set only in A32 (ALUWritePC).
func (c *core) writeALU(n, v uint32) error {
	switch {
	case n < 15:
		c.r[n] = v
	case c.thumb:
		c.branchTo(v)
	default:
		return c.exchangeTo(v)
	}
	return nil
}

// writeLoaded writes a loaded word. Loading r15 is a branch, which may change the instruction set (LoadWritePC).
func (c *core) writeLoaded(n, v uint32) error {
	if n < 15 {
		c.r[n] = v
		return nil
	}
	return c.exchangeTo(v)
}

// carry returns the C flag as a number.
func (c *core) carry() uint32 { return c.cpsr >> 29 & 1 }

// setNZ sets N and Z of a result; setNZC sets C, too.
func (c *core) setNZ(v uint32) {
	c.cpsr = c.cpsr&^(flagN|flagZ) | v&flagN | ones(v == 0)<<30
}

func (c *core) setNZC(v, carry uint32) {
	c.setNZ(v)
	c.cpsr = c.cpsr&^flagC | carry<<29
}

// setFlags sets all four flags.
func (c *core) setFlags(v, carry, overflow uint32) {
	c.setNZC(v, carry)
	c.cpsr = c.cpsr&^flagV | overflow<<28
}

// saturated sets the sticky Q flag.
func (c *core) saturated() { c.cpsr |= flagQ }

// read returns n bytes of memory, valid until the next read or write.
func (b *bus) read(addr uint32, n int) ([]byte, error) {
	if b.bigEndian {
		return nil, errBigEndian
	}
	p := b.buf[:n]
	return p, b.mem.ReadMemory(uint64(addr), p)
}

// write stores p, all of it or nothing.
func (b *bus) write(addr uint32, p []byte) error {
	if b.bigEndian {
		return errBigEndian
	}
	return b.mem.WriteMemory(uint64(addr), p)
}

// load returns a little-endian number of 1, 2 or 4 bytes. Unaligned access is allowed, as under Linux (SCTLR.A is
// 0).
func (b *bus) load(addr uint32, size int) (uint32, error) {
	p, err := b.read(addr, size)
	if err != nil {
		return 0, err
	}
	switch size {
	case 1:
		return uint32(p[0]), nil
	case 2:
		return uint32(binary.LittleEndian.Uint16(p)), nil
	}
	return binary.LittleEndian.Uint32(p), nil
}

// store writes the low size bytes of v.
func (b *bus) store(addr, v uint32, size int) error {
	binary.LittleEndian.PutUint32(b.buf[:], v)
	return b.write(addr, b.buf[:size])
}

// aligned returns a fault if the instruction requires alignment and the address is not a multiple of size.
func aligned(addr uint32, size int, write bool) error {
	if addr&uint32(size-1) != 0 {
		return &AlignmentError{Addr: uint64(addr), Write: write}
	}
	return nil
}
