package arm

import (
	"encoding/binary"
	"sync"

	"gotap/arch"
	"gotap/arch/ieee"
)

// The places of registers in arch.Regs, which are those of the kernel's struct pt_regs. R0 to R15 are 0 to 15.
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
	userMSR = 0xf8000000 // what MSR changes by its mask bit 3
)

// cpu is the machine that one instruction runs on. Its registers are copies, which run commits when the instruction has succeeded, so
// that an instruction that fails has changed nothing.
type cpu struct {
	r     [15]uint32 // r0 to r14
	cpsr  uint32     // IT as it was before the instruction, until a write of it
	pc    uint32     // of the instruction itself
	next  uint32     // where execution goes on
	thumb bool       // the instruction set of the instruction; that of the next one is in cpsr
	v     arch.Vectors
	mem   arch.Memory
	it    uint32    // ITSTATE before the instruction, 0 outside of blocks
	newIT bool      // the instruction has set ITSTATE itself
	taken bool      // the instruction has branched
	buf   [128]byte // what memory is read into and written from
	fp    ieee.Env  // what floating-point arithmetic of the instruction obeys and raises
}

// cpus keeps machines for reuse: an instruction is called through its row, so the compiler could not keep a cpu on the stack, and a
// hit must not allocate.
var cpus = sync.Pool{New: func() any { return new(cpu) }}

// run executes one instruction: on success regs and v are what it leaves, on error they are untouched. v is needed only for
// instructions of the vector unit.
func (in *inst) run(regs *arch.Regs, v *arch.Vectors, mem arch.Memory) error {
	if in.row.vectors && v == nil {
		return errNeedsVectors
	}
	c := cpus.Get().(*cpu)
	c.load32(regs, in)
	c.mem = mem
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

// load32 takes over the registers.
func (c *cpu) load32(regs *arch.Regs, in *inst) {
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

// commit gives the registers back. ITSTATE advances behind every Thumb instruction of a block but IT itself. A condition without
// instructions that it is for, which no IT leaves behind, stays as it is.
func (c *cpu) commit(regs *arch.Regs) {
	for i := range c.r {
		regs[i] = uint64(c.r[i])
	}
	if !c.newIT && c.inIT() {
		c.cpsr = withIT(c.cpsr, advanceIT(c.it))
	}
	regs[regPC], regs[regCPSR] = uint64(c.next), uint64(c.cpsr)
}

// itState is ITSTATE of a CPSR: IT[7:2] in bits 15 to 10, IT[1:0] in bits 26 and 25.
func itState(cpsr uint32) uint32 { return cpsr>>8&0xfc | cpsr>>25&3 }

// withIT is cpsr with another ITSTATE.
func withIT(cpsr, it uint32) uint32 { return cpsr&^maskIT | it>>2<<10 | it&3<<25 }

// advanceIT is ITSTATE behind an instruction of the block (ITAdvance).
func advanceIT(it uint32) uint32 {
	if it&7 == 0 {
		return 0
	}
	return it&0xe0 | it<<1&0x1f
}

// inIT and lastInIT tell where in an IT block the instruction is.
func (c *cpu) inIT() bool     { return c.it&15 != 0 }
func (c *cpu) lastInIT() bool { return c.it&15 == 8 }

// holds reports whether a condition is met by the flags of cpsr (ConditionHolds). 15 is always, too.
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

// field is n bits of an instruction, from bit lo up; bit is one of them.
func field(w uint32, lo, n int) uint32 { return w >> lo & (1<<n - 1) }
func bit(w uint32, n int) bool         { return w>>n&1 == 1 }

// ones is 1 for true.
func ones(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

// reg is register n; r15 is the address of the instruction plus 8, or plus 4 in Thumb.
func (c *cpu) reg(n uint32) uint32 {
	if n < 15 {
		return c.r[n]
	}
	if c.thumb {
		return c.pc + 4
	}
	return c.pc + 8
}

// alignedPC is r15 as literals and ADR see it.
func (c *cpu) alignedPC() uint32 { return c.reg(15) &^ 3 }

// set writes register n, which is not r15: instructions that may write it say by which rule.
func (c *cpu) set(n, v uint32) { c.r[n] = v }

// branchTo goes on at addr in the same instruction set (BranchWritePC).
func (c *cpu) branchTo(addr uint32) {
	c.taken = true
	if c.thumb {
		c.next = addr &^ 1
		return
	}
	c.next = addr &^ 3
}

// exchangeTo goes on at addr, in the instruction set of its bit 0 (BXWritePC). A32 code that lies between two instructions is gone
// to as well: the processor faults there, with the program counter as it is (one of the two behaviours that DDI 0487 leaves open).
// It never fails; that is for its callers.
func (c *cpu) exchangeTo(addr uint32) error {
	c.taken = true
	c.cpsr &^= flagT
	if addr&1 == 1 {
		c.cpsr |= flagT
	}
	c.next = addr &^ 1
	return nil
}

// writeALU writes the result of a data-processing instruction, where r15 is a branch: one that may change the instruction set in A32
// only (ALUWritePC).
func (c *cpu) writeALU(n, v uint32) error {
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

// writeLoaded writes a loaded word, where r15 is a branch that may change the instruction set (LoadWritePC).
func (c *cpu) writeLoaded(n, v uint32) error {
	if n < 15 {
		c.r[n] = v
		return nil
	}
	return c.exchangeTo(v)
}

// carry is the C flag as a number.
func (c *cpu) carry() uint32 { return c.cpsr >> 29 & 1 }

// setNZ and setNZC set flags of a result.
func (c *cpu) setNZ(v uint32) {
	c.cpsr = c.cpsr&^(flagN|flagZ) | v&flagN | ones(v == 0)<<30
}

func (c *cpu) setNZC(v, carry uint32) {
	c.setNZ(v)
	c.cpsr = c.cpsr&^flagC | carry<<29
}

// setFlags sets all four flags.
func (c *cpu) setFlags(v, carry, overflow uint32) {
	c.setNZC(v, carry)
	c.cpsr = c.cpsr&^flagV | overflow<<28
}

// saturated sets the sticky Q flag.
func (c *cpu) saturated() { c.cpsr |= flagQ }

// read is n bytes of memory, valid until the next read or write.
func (c *cpu) read(addr uint32, n int) ([]byte, error) {
	if c.cpsr&flagE != 0 {
		return nil, errBigEndian
	}
	p := c.buf[:n]
	return p, c.mem.ReadMemory(uint64(addr), p)
}

// write stores p, all of it or nothing.
func (c *cpu) write(addr uint32, p []byte) error {
	if c.cpsr&flagE != 0 {
		return errBigEndian
	}
	return c.mem.WriteMemory(uint64(addr), p)
}

// load is a little-endian number of size bytes: 1, 2 or 4. It need not be aligned: Linux lets processes do so (SCTLR.A is 0).
func (c *cpu) load(addr uint32, size int) (uint32, error) {
	p, err := c.read(addr, size)
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
func (c *cpu) store(addr, v uint32, size int) error {
	binary.LittleEndian.PutUint32(c.buf[:], v)
	return c.write(addr, c.buf[:size])
}

// aligned faults for an address that is not a multiple of size, where the instruction wants one.
func aligned(addr uint32, size int, write bool) error {
	if addr&uint32(size-1) != 0 {
		return &AlignmentError{Addr: uint64(addr), Write: write}
	}
	return nil
}
