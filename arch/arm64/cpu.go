package arm64

import (
	"encoding/binary"
	"sync"

	"gotap/arch"
	"gotap/arch/ieee"
)

// The indices of registers in arch.Regs, in the order of the kernel's struct user_pt_regs. X0 to X30 are 0 to 30.
const (
	regFP     = 29
	regLR     = 30
	regSP     = 31
	regPC     = 32
	regPState = 33
)

// cpu is the machine that executes one instruction: general registers, memory, vector registers. Its registers are
// copies. run commits them when the instruction has succeeded, so a failed instruction changes nothing.
type cpu struct {
	core
	bus
	vectorUnit
}

// core holds the general registers and PSTATE.
type core struct {
	r     arch.Regs
	next  uint64 // where execution continues
	btype uint64 // what the instruction leaves in PSTATE.BTYPE
}

// bus accesses memory.
type bus struct {
	mem arch.Memory
	buf [128]byte // data read, or data to write
}

// vectorUnit holds the vector registers.
type vectorUnit struct {
	v  arch.Vectors // valid only for instructions with row.vectors
	fp ieee.Env     // the modes and flags of floating point while an executor computes with them (withFP)
}

// cpus holds machines for reuse. An instruction is called through its row, so a cpu on the stack would escape to
// the heap, and a hit must not allocate.
var cpus = sync.Pool{New: func() any { return new(cpu) }}

// run executes one instruction. On success, regs and v are updated; on error, they are unchanged.
func (in *inst) run(regs *arch.Regs, v *arch.Vectors, mem arch.Memory) error {
	if in.row.vectors && v == nil {
		return errNeedsVectors
	}
	c := cpus.Get().(*cpu)
	c.r, c.mem, c.next, c.btype = *regs, mem, regs[regPC]+4, 0
	if in.row.vectors {
		c.v = *v
	}
	err := error(errSigned)
	if in.row.class != PointerAuth || in.row.control != arch.Plain || !c.signs() {
		err = in.row.exec(c, in.word)
	}
	if err == nil {
		c.r[regPC] = c.next
		c.r[regPState] = c.r[regPState]&^btypeMask | c.btype
		*regs = c.r
		if in.row.vectors {
			*v = c.v
		}
	}
	c.mem = nil
	cpus.Put(c)
	return err
}

// field returns n bits of an instruction, from bit lo up.
func field(w uint32, lo, n int) uint32 { return w >> lo & (1<<n - 1) }

// signedField returns n bits of an instruction, from bit lo up, as a signed number.
func signedField(w uint32, lo, n int) int64 { return int64(int32(w<<(32-lo-n)) >> (32 - n)) }

func rd(w uint32) uint32 { return w & 31 }
func rn(w uint32) uint32 { return w >> 5 & 31 }
func rm(w uint32) uint32 { return w >> 16 & 31 }
func ra(w uint32) uint32 { return w >> 10 & 31 }

// wide reports the 64-bit form of an instruction with an sf bit.
func wide(w uint32) bool { return w>>31 == 1 }

// reg returns register n, where 31 is zero.
func (c *core) reg(n uint32) uint64 {
	if n == 31 {
		return 0
	}
	return c.r[n]
}

// regSP returns register n, where 31 is the stack pointer.
func (c *core) regSP(n uint32) uint64 { return c.r[n] }

// set writes register n. Register 31 ignores the value.
func (c *core) set(n uint32, v uint64) {
	if n != 31 {
		c.r[n] = v
	}
}

// setSP writes register n, where 31 is the stack pointer.
func (c *core) setSP(n uint32, v uint64) { c.r[n] = v }

// sized returns v cut to 32 bits unless w is of the 64-bit form.
func sized(w uint32, v uint64) uint64 {
	if wide(w) {
		return v
	}
	return v & 0xffffffff
}

// The condition flags and the other bits of PSTATE that a user process can see, in the positions of SPSR_EL1.
const (
	flagN     = 1 << 31
	flagZ     = 1 << 30
	flagC     = 1 << 29
	flagV     = 1 << 28
	flagsNZCV = flagN | flagZ | flagC | flagV
	btypeMask = 3 << 10
)

// flags returns NZCV as four bits.
func (c *core) flags() uint32 { return uint32(c.r[regPState] >> 28 & 15) }

// setFlags writes NZCV from four bits.
func (c *core) setFlags(nzcv uint32) {
	c.r[regPState] = c.r[regPState]&^flagsNZCV | uint64(nzcv&15)<<28
}

// holds reports whether a condition is met (Arm ARM, shared pseudocode ConditionHolds).
func (c *core) holds(cond uint32) bool {
	f := c.flags()
	n, z, carry, v := f>>3&1 == 1, f>>2&1 == 1, f>>1&1 == 1, f&1 == 1
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
	case 7:
		return true
	}
	return ok != (cond&1 == 1)
}

// untagged returns an address as the memory system uses it: Linux lets user processes keep a tag in the top byte
// (TBI0). Addresses in the kernel's half have no tag, and fault.
func untagged(addr uint64) uint64 {
	if addr>>55&1 == 1 {
		return addr
	}
	return addr &^ (0xff << 56)
}

// read returns n bytes of memory, valid until the next read or write.
func (b *bus) read(addr uint64, n int) ([]byte, error) {
	p := b.buf[:n]
	return p, b.mem.ReadMemory(untagged(addr), p)
}

// write stores p, all of it or nothing.
func (b *bus) write(addr uint64, p []byte) error { return b.mem.WriteMemory(untagged(addr), p) }

// load returns a little-endian word of size bytes: 1, 2, 4 or 8.
func (b *bus) load(addr uint64, size int) (uint64, error) {
	p := b.buf[:8]
	clear(p)
	if err := b.mem.ReadMemory(untagged(addr), p[:size]); err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint64(p), nil
}

// store writes the low size bytes of v.
func (b *bus) store(addr uint64, v uint64, size int) error {
	binary.LittleEndian.PutUint64(b.buf[:8], v)
	return b.write(addr, b.buf[:size])
}

// loadPair returns two words that lie side by side.
func (b *bus) loadPair(addr uint64, size int) (lo, hi uint64, err error) {
	p, err := b.read(addr, 2*size)
	if err != nil {
		return 0, 0, err
	}
	if size == 4 {
		return uint64(binary.LittleEndian.Uint32(p)), uint64(binary.LittleEndian.Uint32(p[4:])), nil
	}
	return binary.LittleEndian.Uint64(p), binary.LittleEndian.Uint64(p[8:]), nil
}

// storePair writes two words side by side, in one call.
func (b *bus) storePair(addr, lo, hi uint64, size int) error {
	binary.LittleEndian.PutUint64(b.buf[:], lo)
	binary.LittleEndian.PutUint64(b.buf[size:], hi)
	return b.write(addr, b.buf[:2*size])
}

// StackChecker is implemented by an arch.Memory whose machine may not check the alignment of the stack pointer,
// such as QEMU's user emulation. Linux on a processor does check it (SCTLR_EL1.SA0), so the check is on without a
// StackChecker.
type StackChecker interface{ ChecksStack() bool }

// checkSP returns a fault if the stack pointer is the base of an access and not aligned to 16 bytes.
func (c *cpu) checkSP(base uint32) error {
	if base != 31 || c.r[regSP]&15 == 0 {
		return nil
	}
	if s, ok := c.mem.(StackChecker); ok && !s.ChecksStack() {
		return nil
	}
	return &AlignmentError{Addr: c.r[regSP], Stack: true}
}

// checkAligned returns a fault for an unaligned access that has to be atomic: atomics, exclusives, acquire and
// release.
func checkAligned(addr uint64, size int, write bool) error {
	if addr&uint64(size-1) != 0 {
		return &AlignmentError{Addr: untagged(addr), Write: write}
	}
	return nil
}
