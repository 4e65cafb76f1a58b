package arm

import (
	"encoding/binary"
	"math/bits"

	"gotap/arch"
)

// access is a load or store of one register.
type access struct {
	size   int // 1, 2 or 4
	load   bool
	signed bool
}

// address is the address of an access and the new value of the base register.
type address struct {
	at, base  uint32
	writeBack bool
	n         uint32 // the base register
}

// indexing says how an offset applies to a base register (Arm ARM DDI 0487, F1.6.2: offset, pre-indexed and
// post-indexed addressing).
type indexing struct {
	add       bool // the offset is added, not subtracted
	before    bool // the access uses the sum, not the base
	writeBack bool // the sum becomes the base
}

// indexed returns the address of the base plus or minus an offset.
func (c *core) indexed(n, offset uint32, how indexing) address {
	base := c.reg(n)
	if n == 15 {
		base &^= 3
	}
	if !how.add {
		offset = -offset
	}
	a := address{at: base + offset, base: base + offset, writeBack: how.writeBack, n: n}
	if !how.before {
		a.at = base
	}
	return a
}

// writeBase gives the base register its new value.
func (c *core) writeBase(a address) {
	if a.writeBack {
		c.set(a.n, a.base)
	}
}

// transfer moves register t to or from memory. The base register is written before a loaded one.
func (c *cpu) transfer(k access, t uint32, a address) error {
	if !k.load {
		v := c.reg(t)
		c.writeBase(a)
		return c.store(a.at, v, k.size)
	}
	v, err := c.load(a.at, k.size)
	if err != nil {
		return err
	}
	switch {
	case k.signed && k.size == 1:
		v = signByte(v)
	case k.signed:
		v = signHalf(v)
	}
	c.writeBase(a)
	if t == 15 && a.at&3 != 0 {
		return errLoadedPC
	}
	return c.writeLoaded(t, v)
}

const errLoadedPC = arch.Refusal("unpredictable: r15 loaded from an address that is not aligned")

// transferPair moves two registers to or from memory.
func (c *cpu) transferPair(load bool, t, t2 uint32, a address) error {
	if err := aligned(a.at, 4, !load); err != nil {
		return err
	}
	if !load {
		binary.LittleEndian.PutUint32(c.buf[:], c.reg(t))
		binary.LittleEndian.PutUint32(c.buf[4:], c.reg(t2))
		c.writeBase(a)
		return c.write(a.at, c.buf[:8])
	}
	p, err := c.read(a.at, 8)
	if err != nil {
		return err
	}
	c.writeBase(a)
	c.set(t, binary.LittleEndian.Uint32(p))
	c.set(t2, binary.LittleEndian.Uint32(p[4:]))
	return nil
}

// block is a transfer of several registers, the lowest one at the lowest address.
type block struct {
	n, list   uint32
	up        bool // the base is the low end of the memory
	before    bool // the access does not include the base itself
	writeBack bool
}

// span returns the lowest address of a block and the new base.
func (c *cpu) span(b block) (low, base uint32) {
	size := uint32(4 * bits.OnesCount32(b.list))
	start := c.reg(b.n)
	low, base = start, start+size
	if !b.up {
		low, base = start-size, start-size
	}
	if b.before == b.up { // IB and DA are one word above IA and DB
		low += 4
	}
	return low, base
}

// loadBlock executes LDM.
func (c *cpu) loadBlock(b block) error {
	low, base := c.span(b)
	if err := aligned(low, 4, false); err != nil {
		return err
	}
	p, err := c.read(low, 4*bits.OnesCount32(b.list))
	if err != nil {
		return err
	}
	if b.writeBack {
		c.set(b.n, base)
	}
	for list := b.list; list != 0; list &= list - 1 {
		if err := c.writeLoaded(uint32(bits.TrailingZeros32(list)), binary.LittleEndian.Uint32(p)); err != nil {
			return err
		}
		p = p[4:]
	}
	return nil
}

// storeBlock executes STM. A stored base register has its old value; with write-back, only the lowest register may
// be the base.
func (c *cpu) storeBlock(b block) error {
	low, base := c.span(b)
	if err := aligned(low, 4, true); err != nil {
		return err
	}
	p := c.buf[:0]
	for list := b.list; list != 0; list &= list - 1 {
		p = binary.LittleEndian.AppendUint32(p, c.reg(uint32(bits.TrailingZeros32(list))))
	}
	if b.writeBack {
		c.set(b.n, base)
	}
	return c.write(low, p)
}

// swap executes SWP and SWPB.
func (c *cpu) swap(t, m, addr uint32, size int) error {
	if err := aligned(addr, size, true); err != nil {
		return err
	}
	v, err := c.load(addr, size)
	if err != nil {
		return err
	}
	if err := c.store(addr, c.reg(m), size); err != nil {
		return err
	}
	c.set(t, v)
	return nil
}

// loadExclusive loads size bytes, 8 into a pair of registers. It sets no monitor.
func (c *cpu) loadExclusive(t, t2, addr uint32, size int) error {
	if err := aligned(addr, size, false); err != nil {
		return err
	}
	if size == 8 {
		return c.transferPair(true, t, t2, address{at: addr})
	}
	return c.transfer(access{size: size, load: true}, t, address{at: addr})
}

// storeExclusive finds its monitor clear: it stores nothing and reports that in d. The architecture allows a
// processor to check the monitor before the address, so it never faults.
func (c *cpu) storeExclusive(d uint32) error {
	c.set(d, 1)
	return nil
}

// ordered executes a load-acquire or store-release. They differ from other accesses in that they require alignment.
func (c *cpu) ordered(k access, t, addr uint32) error {
	if err := aligned(addr, k.size, !k.load); err != nil {
		return err
	}
	return c.transfer(k, t, address{at: addr})
}
