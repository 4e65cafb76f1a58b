package x86

import (
	"encoding/binary"
	"hash/crc32"
	"math/bits"
)

// Instructions that exchange and store (xchg, xadd, cmpxchg, movnti, movbe), and crc32.

// exchange emulates xchg. With memory it is atomic, which makes no difference here.
func exchange(x *execution) error {
	x.resize()
	v, err := x.read(x.rm())
	if err != nil {
		return ofWrite(err)
	}
	mine, _ := x.read(x.reg())
	if err := x.write(x.rm(), mine); err != nil {
		return err
	}
	return x.write(x.reg(), v)
}

// exchangeAdd emulates xadd. If both operands are the same register, it holds the sum.
func exchangeAdd(x *execution) error {
	x.resize()
	v, err := x.read(x.rm())
	if err != nil {
		return ofWrite(err)
	}
	mine, _ := x.read(x.reg())
	sum, flags := alu(aluADD, v, mine, x.form.size, 0)
	if x.in.memory() {
		if err := x.write(x.rm(), sum); err != nil {
			return err
		}
		x.write(x.reg(), v)
	} else {
		x.write(x.reg(), v)
		x.write(x.rm(), sum)
	}
	setStatus(x.regs, flags)
	return nil
}

// compareExchange emulates cmpxchg, which always writes memory.
func compareExchange(x *execution) error {
	x.resize()
	v, err := x.read(x.rm())
	if err != nil {
		return ofWrite(err)
	}
	_, flags := alu(aluCMP, x.gpr(RAX), v, x.form.size, 0)
	mine, _ := x.read(x.reg())
	equal := x.gpr(RAX) == v
	if !equal {
		mine = v
	}
	if x.in.memory() || equal {
		if err := x.write(x.rm(), mine); err != nil {
			return err
		}
	}
	if !equal {
		x.setGPR(RAX, v)
	}
	setStatus(x.regs, flags)
	return nil
}

// compareExchangePair emulates cmpxchg8b and cmpxchg16b. The latter requires an aligned operand.
func compareExchangePair(x *execution) error {
	addr, err := x.linear(x.regs)
	if err != nil {
		return err
	}
	half := x.form.size
	if half == 2 {
		half = 4
	}
	x.form.size = half
	if half == 8 && addr&15 != 0 {
		return errAlignment
	}
	p := make([]byte, 2*half)
	if err := x.mem.ReadMemory(addr, p); err != nil {
		return ofWrite(err)
	}
	lo, hi := word(p[:half]), word(p[half:])
	equal := lo == x.gpr(RAX) && hi == x.gpr(RDX)
	if equal {
		putWord(p[:half], x.regs[RBX])
		putWord(p[half:], x.regs[RCX])
	}
	if err := x.mem.WriteMemory(addr, p); err != nil {
		return err
	}
	if !equal {
		x.setGPR(RAX, lo)
		x.setGPR(RDX, hi)
	}
	x.setFlags(flagZF, bit(equal, flagZF))
	return nil
}

// word returns a little-endian number of 4 or 8 bytes.
func word(p []byte) uint64 {
	if len(p) == 4 {
		return uint64(binary.LittleEndian.Uint32(p))
	}
	return binary.LittleEndian.Uint64(p)
}

func putWord(p []byte, v uint64) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], v)
	copy(p, b[:])
}

// storeDirect emulates movnti.
func storeDirect(x *execution) error { return x.write(x.rm(), x.gpr(x.reg().index)) }

// moveSwapped emulates movbe.
func moveSwapped(x *execution) error {
	from, to := x.rm(), x.reg()
	if x.in.opcode == 0xf1 {
		from, to = to, from
	}
	v, err := x.read(from)
	if err != nil {
		return err
	}
	return x.write(to, bits.ReverseBytes64(v)>>(64-8*uint(x.form.size)))
}

// castagnoli is the polynomial of crc32.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum emulates crc32, which does not invert as usual checksums do. It clears the upper half of a destination
// of 8 bytes.
func checksum(x *execution) error {
	x.form.size = x.in.byteOr(x.form.size)
	v, err := x.read(x.rm())
	if err != nil {
		return err
	}
	var p [8]byte
	binary.LittleEndian.PutUint64(p[:], v)
	to := gpr[x.in.reg()]
	r := ^crc32.Update(^uint32(x.regs[to]), castagnoli, p[:x.form.size])
	x.regs[to] = uint64(r)
	return nil
}
