package x86

import (
	"encoding/binary"
	"fmt"

	"gotap/arch"
)

// isa is one of the two modes. Values are immutable.
type isa struct {
	long         bool
	transactions bool // the processor has them (RTM)
	names        map[string]register
}

var (
	mode64 = &isa{long: true, names: names64}
	mode32 = &isa{names: names32}

	mode64Transactions = &isa{long: true, names: names64, transactions: true}
	mode32Transactions = &isa{names: names32, transactions: true}
)

// New64 is x86-64: programs in 64-bit mode.
func New64() arch.Arch { return mode64 }

// New32 is IA-32: 32-bit programs, also as compatibility-mode processes of a 64-bit kernel.
func New32() arch.Arch { return mode32 }

// WithTransactions is what New64 or New32 returns, for a processor that has transactions (RTM). There a probe on xbegin has the
// transaction abort at once. Without them the processor raises an exception, as it would without the probe.
func WithTransactions(a arch.Arch) arch.Arch {
	if a == mode64 {
		return mode64Transactions
	}
	return mode32Transactions
}

// slotSize is the longest instruction and the longest jump back behind it.
const slotSize = 32

// Name is "x86-64" or "ia32".
func (m *isa) Name() string {
	if m.long {
		return "x86-64"
	}
	return "ia32"
}

// WordSize is 8 or 4 bytes.
func (m *isa) WordSize() int {
	if m.long {
		return 8
	}
	return 4
}

// Decode decodes the instruction at the start of code.
func (m *isa) Decode(code []byte, addr uint64) (arch.Insn, error) {
	in, err := decode(code, addr, m.long)
	if err != nil {
		return arch.Insn{}, err
	}
	out := arch.Insn{Addr: addr, Len: int(in.length), Control: in.control(), Op: in}
	copy(out.Bytes[:], in.bytes())
	if in.relLen != 0 {
		out.Target = m.wrap(addr + uint64(in.length) + uint64(in.imm))
	}
	return out, nil
}

// wrap makes an address of a sum: addresses of 32-bit programs wrap at 4 GiB.
func (m *isa) wrap(addr uint64) uint64 {
	if m.long {
		return addr
	}
	return addr & 0xffffffff
}

// Breakpoint is int3.
func (m *isa) Breakpoint(arch.Insn) []byte { return int3[:] }

// BreakpointPC is one before what the kernel reports: int3 is a trap, taken after the instruction.
func (m *isa) BreakpointPC(pc uint64) uint64 { return m.wrap(pc - 1) }

// SlotSize is room for every copy that OutOfLine makes, in bytes.
func (m *isa) SlotSize() int { return slotSize }

// RegIndex finds a register by its name. "sp", "fp", "pc" and "ip" are whole registers, "bp" and "ax" 16 bits.
func (m *isa) RegIndex(name string) (index, bits, shift int, ok bool) {
	r, ok := m.names[name]
	return r.index, r.bits, r.shift, ok
}

// PC is the index of rip, or eip.
func (m *isa) PC() int { return RIP }

// SP is the index of rsp, or esp.
func (m *isa) SP() int { return RSP }

// FP is the index of rbp, or ebp, which compilers keep for frames only when asked to.
func (m *isa) FP() int { return RBP }

// Ret is the index of rax, or eax; the upper half of what has two words is in rdx.
func (m *isa) Ret() int { return RAX }

// sysvArgs are the registers of integer arguments (System V ABI, AMD64 supplement, 3.2.3).
var sysvArgs = [...]uint8{RDI, RSI, RDX, RCX, R8, R9}

// Arg is integer argument n of a function just entered: System V on x86-64, cdecl on IA-32. Arguments on the stack
// lie above the return address.
func (m *isa) Arg(n int, regs *arch.Regs, mem arch.Memory) (uint64, error) {
	if n < 0 {
		return 0, fmt.Errorf("cannot read argument %d: there is none", n)
	}
	if m.long {
		if n < len(sysvArgs) {
			return regs[sysvArgs[n]], nil
		}
		n -= len(sysvArgs)
	}
	word := uint64(m.WordSize())
	return m.readWord(mem, m.wrap(regs[RSP]+word+uint64(n)*word))
}

// ReturnAddress is the word at the top of the stack.
func (m *isa) ReturnAddress(regs *arch.Regs, mem arch.Memory) (uint64, error) {
	return m.readWord(mem, regs[RSP])
}

func (m *isa) readWord(mem arch.Memory, addr uint64) (uint64, error) {
	p := make([]byte, 8)
	if err := mem.ReadMemory(addr, p[:m.WordSize()]); err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint64(p), nil
}

// The registers of system call arguments: syscall takes the fourth in r10, as rcx is lost; int 0x80 takes six in the
// order of its old gates. A sysenter or 32-bit syscall passes the sixth in memory; the kernel shows it in ebp all
// the same by the time a tracer looks.
var (
	syscallArgs64 = [...]uint8{RDI, RSI, RDX, R10, R8, R9}
	syscallArgs32 = [...]uint8{RBX, RCX, RDX, RSI, RDI, RBP}
)

// SyscallArg is argument n, or 0 when no system call has so many.
func (m *isa) SyscallArg(n int, regs *arch.Regs) uint64 {
	if n < 0 || n >= len(syscallArgs64) {
		return 0
	}
	if m.long {
		return regs[syscallArgs64[n]]
	}
	return regs[syscallArgs32[n]] & 0xffffffff
}

// SyscallNumber is orig_rax inside a system call. Outside of one, where the kernel keeps -1 there, it is rax: the
// number of the call that the instruction at the program counter is about to make.
func (m *isa) SyscallNumber(regs *arch.Regs) uint64 {
	n := regs[OrigRAX]
	if int32(n) == -1 {
		n = regs[RAX]
	}
	return m.wrap(n)
}

// SyscallRet is the kernel's result, sign-extended: errors are -1 to -4095.
func (m *isa) SyscallRet(regs *arch.Regs) uint64 {
	if m.long {
		return regs[RAX]
	}
	return uint64(int64(int32(regs[RAX])))
}

// InSyscall reports whether regs are those of a thread that is in a system call, or on its way out of one. A return from a signal
// handler is none: the kernel marks the registers that it restores.
func InSyscall(regs *arch.Regs) bool { return int32(regs[OrigRAX]) >= 0 }

// int3 is the one-byte breakpoint instruction.
var int3 = [1]byte{0xcc}
