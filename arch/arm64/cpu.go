package arm64

import (
	"encoding/binary"
	"sync"

	"gotap/arch"
	"gotap/arch/ieee"
)

// The places of registers in arch.Regs, which are those of the kernel's struct user_pt_regs. X0 to X30 are 0 to 30.
const (
	regFP     = 29
	regLR     = 30
	regSP     = 31
	regPC     = 32
	regPState = 33
)

// cpu is the machine that one instruction runs on. Registers are copies, which run commits when the instruction has succeeded, so that an
// instruction that fails has changed nothing.
type cpu struct {
	r     arch.Regs
	v     arch.Vectors // of instructions with row.vectors only
	mem   arch.Memory
	next  uint64    // where execution goes on
	btype uint64    // what the instruction leaves in PSTATE.BTYPE
	buf   [128]byte // what memory is read into and written from
	fp    ieee.Env  // the modes and flags of floating point, while an executor computes with them (withFP)
}

// cpus keeps machines for reuse: an instruction is called through its row, so the compiler could not keep a cpu on the stack, and a
// hit must not allocate.
var cpus = sync.Pool{New: func() any { return new(cpu) }}

// run executes one instruction: on success regs and v are what it leaves, on error they are untouched.
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

// field is n bits of an instruction, from bit lo up.
func field(w uint32, lo, n int) uint32 { return w >> lo & (1<<n - 1) }

// signedField is the same as a signed number.
func signedField(w uint32, lo, n int) int64 { return int64(int32(w<<(32-lo-n)) >> (32 - n)) }

func rd(w uint32) uint32 { return w & 31 }
func rn(w uint32) uint32 { return w >> 5 & 31 }
func rm(w uint32) uint32 { return w >> 16 & 31 }
func ra(w uint32) uint32 { return w >> 10 & 31 }

// wide reports the 64-bit form of an instruction with an sf bit.
func wide(w uint32) bool { return w>>31 == 1 }

// reg is register n, where 31 is zero.
func (c *cpu) reg(n uint32) uint64 {
	if n == 31 {
		return 0
	}
	return c.r[n]
}

// regSP is register n, where 31 is the stack pointer.
func (c *cpu) regSP(n uint32) uint64 { return c.r[n] }

// set writes register n, where 31 swallows the value.
func (c *cpu) set(n uint32, v uint64) {
	if n != 31 {
		c.r[n] = v
	}
}

// setSP writes register n, where 31 is the stack pointer.
func (c *cpu) setSP(n uint32, v uint64) { c.r[n] = v }

// sized is v cut to 32 bits unless w is of the 64-bit form.
func sized(w uint32, v uint64) uint64 {
	if wide(w) {
		return v
	}
	return v & 0xffffffff
}

// The condition flags and what else of PSTATE a user process can see, in the places of SPSR_EL1.
const (
	flagN     = 1 << 31
	flagZ     = 1 << 30
	flagC     = 1 << 29
	flagV     = 1 << 28
	flagsNZCV = flagN | flagZ | flagC | flagV
	btypeMask = 3 << 10
)

// flags is NZCV as four bits.
func (c *cpu) flags() uint32 { return uint32(c.r[regPState] >> 28 & 15) }

// setFlags writes NZCV from four bits.
func (c *cpu) setFlags(nzcv uint32) {
	c.r[regPState] = c.r[regPState]&^flagsNZCV | uint64(nzcv&15)<<28
}

// holds reports whether a condition is met (Arm ARM, shared pseudocode ConditionHolds).
func (c *cpu) holds(cond uint32) bool {
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

// untagged is an address as the memory system sees it: Linux lets user processes keep a tag in the top byte (TBI0).
// Addresses of the kernel's half have no tag, and are left to fault.
func untagged(addr uint64) uint64 {
	if addr>>55&1 == 1 {
		return addr
	}
	return addr &^ (0xff << 56)
}

// read is n bytes of memory, valid until the next read or write.
func (c *cpu) read(addr uint64, n int) ([]byte, error) {
	p := c.buf[:n]
	return p, c.mem.ReadMemory(untagged(addr), p)
}

// write stores p, all of it or nothing.
func (c *cpu) write(addr uint64, p []byte) error { return c.mem.WriteMemory(untagged(addr), p) }

// load is a little-endian word of size bytes: 1, 2, 4 or 8.
func (c *cpu) load(addr uint64, size int) (uint64, error) {
	p := c.buf[:8]
	clear(p)
	if err := c.mem.ReadMemory(untagged(addr), p[:size]); err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint64(p), nil
}

// store writes the low size bytes of v.
func (c *cpu) store(addr uint64, v uint64, size int) error {
	binary.LittleEndian.PutUint64(c.buf[:8], v)
	return c.write(addr, c.buf[:size])
}

// loadPair is two words that lie side by side.
func (c *cpu) loadPair(addr uint64, size int) (lo, hi uint64, err error) {
	p, err := c.read(addr, 2*size)
	if err != nil {
		return 0, 0, err
	}
	if size == 4 {
		return uint64(binary.LittleEndian.Uint32(p)), uint64(binary.LittleEndian.Uint32(p[4:])), nil
	}
	return binary.LittleEndian.Uint64(p), binary.LittleEndian.Uint64(p[8:]), nil
}

// storePair writes two words side by side, in one call.
func (c *cpu) storePair(addr, lo, hi uint64, size int) error {
	binary.LittleEndian.PutUint64(c.buf[:], lo)
	binary.LittleEndian.PutUint64(c.buf[size:], hi)
	return c.write(addr, c.buf[:2*size])
}

// StackChecker is for an arch.Memory of a machine that does not check the alignment of the stack pointer, as QEMU's emulation of user
// processes: it answers false. Linux on a processor does check (SCTLR_EL1.SA0), so without an answer the check is on.
type StackChecker interface{ ChecksStack() bool }

// checkSP faults for a stack pointer that is not aligned to 16 bytes and serves as the base of an access.
func (c *cpu) checkSP(base uint32) error {
	if base != 31 || c.r[regSP]&15 == 0 {
		return nil
	}
	if s, ok := c.mem.(StackChecker); ok && !s.ChecksStack() {
		return nil
	}
	return &AlignmentError{Addr: c.r[regSP], Stack: true}
}

// checkAligned faults for an access that must not be torn: atomics, exclusives, acquire and release.
func checkAligned(addr uint64, size int, write bool) error {
	if addr&uint64(size-1) != 0 {
		return &AlignmentError{Addr: untagged(addr), Write: write}
	}
	return nil
}
