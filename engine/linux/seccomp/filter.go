package seccomp

import (
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// The kinds of system calls (AUDIT_ARCH_* in linux/audit.h).
const (
	ArchAMD64 = 0xc000003e
	ArchI386  = 0x40000003
	ArchARM64 = 0xc00000b7
	ArchARM   = 0x40000028
)

// A Call is a system call at its entry: struct seccomp_data.
type Call struct {
	Number uint32
	Arch   uint32 // one of the constants above
	PC     uint64 // behind the instruction that makes it
	Args   [6]uint64
}

// size is the size of struct seccomp_data in bytes.
const size = 64

// words returns a call as filters see it, in little-endian order.
func (c *Call) words() (data [size]byte) {
	le := binary.LittleEndian
	le.PutUint32(data[0:], c.Number)
	le.PutUint32(data[4:], c.Arch)
	le.PutUint64(data[8:], c.PC)
	for i, a := range c.Args {
		le.PutUint64(data[16+8*i:], a)
	}
	return data
}

// A Filter is one program in the kernel's format.
type Filter []unix.SockFilter

// Allows reports whether a filter lets a call pass, at most with a log entry. It returns false for an error, a signal,
// the end of the process, a question to another process, and for a malformed filter.
func (f Filter) Allows(c Call) bool {
	const allow, log, actions = 0x7fff0000, 0x7ffc0000, 0xffff0000
	verdict, ok := f.run(c.words())
	return ok && (verdict&actions == allow || verdict&actions == log)
}

// machine is the state of a program.
type machine struct {
	a, x uint32
	mem  [16]uint32
	data [size]byte
}

// run executes the program. Jumps lead forward alone, so it ends; ok is false when it leaves itself or does what the
// kernel does not accept.
func (f Filter) run(data [size]byte) (verdict uint32, ok bool) {
	m := machine{data: data}
	for pc := 0; pc < len(f); pc++ {
		in := f[pc]
		switch in.Code & 7 {
		case unix.BPF_LD:
			ok = m.load(in, &m.a)
		case unix.BPF_LDX:
			ok = m.load(in, &m.x)
		case unix.BPF_ST:
			ok = m.store(in.K, m.a)
		case unix.BPF_STX:
			ok = m.store(in.K, m.x)
		case unix.BPF_ALU:
			ok = m.compute(in)
		case unix.BPF_JMP:
			skip := 0
			skip, ok = m.jump(in, len(f))
			pc += skip
		case unix.BPF_RET:
			if in.Code&0x18 == unix.BPF_A {
				return m.a, true
			}
			return in.K, in.Code&0x18 == unix.BPF_K
		default: // BPF_MISC
			ok = m.transfer(in.Code)
		}
		if !ok {
			return 0, false
		}
	}
	return 0, false
}

// load executes LD and LDX: a word of the call, its size, a constant, a word of memory.
func (m *machine) load(in unix.SockFilter, to *uint32) bool {
	switch in.Code & 0xe0 {
	case unix.BPF_ABS:
		if in.K > size-4 || in.K%4 != 0 || in.Code&0x18 != unix.BPF_W {
			return false
		}
		*to = binary.LittleEndian.Uint32(m.data[in.K:])
	case unix.BPF_LEN:
		*to = size
	case unix.BPF_IMM:
		*to = in.K
	case unix.BPF_MEM:
		if int(in.K) >= len(m.mem) {
			return false
		}
		*to = m.mem[in.K]
	default:
		return false
	}
	return true
}

func (m *machine) store(k, v uint32) bool {
	if int(k) >= len(m.mem) {
		return false
	}
	m.mem[k] = v
	return true
}

// operand returns the second operand of an instruction: a constant, or X.
func (m *machine) operand(in unix.SockFilter) uint32 {
	if in.Code&8 == unix.BPF_X {
		return m.x
	}
	return in.K
}

// compute executes ALU. It refuses a division by zero, and a shift by more than the width of a word, on which
// processors differ.
func (m *machine) compute(in unix.SockFilter) bool {
	v := m.operand(in)
	switch in.Code & 0xf0 {
	case unix.BPF_ADD:
		m.a += v
	case unix.BPF_SUB:
		m.a -= v
	case unix.BPF_MUL:
		m.a *= v
	case unix.BPF_DIV:
		if v == 0 {
			return false
		}
		m.a /= v
	case unix.BPF_OR:
		m.a |= v
	case unix.BPF_AND:
		m.a &= v
	case unix.BPF_XOR:
		m.a ^= v
	case unix.BPF_NEG:
		m.a = -m.a
	case unix.BPF_LSH:
		m.a <<= v
		return v < 32
	case unix.BPF_RSH:
		m.a >>= v
		return v < 32
	default:
		return false
	}
	return true
}

// jump is JMP: how many instructions are left out, of a program of so many.
func (m *machine) jump(in unix.SockFilter, length int) (skip int, ok bool) {
	v, holds := m.operand(in), false
	switch in.Code & 0xf0 {
	case unix.BPF_JA:
		if in.K >= uint32(length) {
			return 0, false
		}
		return int(in.K), true
	case unix.BPF_JEQ:
		holds = m.a == v
	case unix.BPF_JGT:
		holds = m.a > v
	case unix.BPF_JGE:
		holds = m.a >= v
	case unix.BPF_JSET:
		holds = m.a&v != 0
	default:
		return 0, false
	}
	if holds {
		return int(in.Jt), true
	}
	return int(in.Jf), true
}

// transfer executes MISC: TAX and TXA.
func (m *machine) transfer(code uint16) bool {
	const taxa, tax, txa = 0xf8, 0x00, 0x80
	switch code & taxa {
	case tax:
		m.x = m.a
	case txa:
		m.a = m.x
	default:
		return false
	}
	return true
}
