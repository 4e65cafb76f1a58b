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

// New64 returns x86-64: programs in 64-bit mode. It is an arch.WindowArch.
func New64() arch.Arch { return windows{mode64} }

// New32 returns IA-32: 32-bit programs, including compatibility-mode processes of a 64-bit kernel.
func New32() arch.Arch { return mode32 }

// WithTransactions returns a variant of New64 or New32 for a processor with transactions (RTM). With it, a probe on
// xbegin makes the transaction abort at once. Without it, the processor executes xbegin: it raises an exception, as it
// would without the probe, or aborts the transaction. Under a hypervisor, a processor may execute xbegin and report
// neither RTM nor RTM_ALWAYS_ABORT.
func WithTransactions(a arch.Arch) arch.Arch {
	if a.WordSize() == mode64.WordSize() {
		return windows{mode64Transactions}
	}
	return mode32Transactions
}

// slotSize is room for the longest instruction and the longest jump back behind it.
const slotSize = 32

// Name returns "x86-64" or "ia32".
func (m *isa) Name() string {
	if m.long {
		return "x86-64"
	}
	return "ia32"
}

// WordSize returns 8 or 4.
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

// wrap truncates an address: addresses of 32-bit programs wrap at 4 GiB.
func (m *isa) wrap(addr uint64) uint64 {
	if m.long {
		return addr
	}
	return addr & 0xffffffff
}

// Breakpoint returns int3.
func (m *isa) Breakpoint(arch.Insn) []byte { return int3[:] }

// BreakpointPC returns pc - 1: int3 is a trap, which the processor takes after the instruction.
func (m *isa) BreakpointPC(pc uint64) uint64 { return m.wrap(pc - 1) }

// SlotSize returns the maximum size of a copy that OutOfLine makes.
func (m *isa) SlotSize() int { return slotSize }

// RegIndex finds a register by its name. "sp", "fp", "pc" and "ip" are whole registers, "bp" and "ax" 16 bits.
func (m *isa) RegIndex(name string) (index, bits, shift int, ok bool) {
	r, ok := m.names[name]
	return r.index, r.bits, r.shift, ok
}

// PC returns the index of rip, or eip.
func (m *isa) PC() int { return RIP }

// SP returns the index of rsp, or esp.
func (m *isa) SP() int { return RSP }

// FP returns the index of rbp, or ebp, which compilers use for frames only on request.
func (m *isa) FP() int { return RBP }

// Ret returns the index of rax, or eax. The upper half of a result of two words is in rdx.
func (m *isa) Ret() int { return RAX }

// sysvArgs are the registers of integer arguments (System V ABI, AMD64 supplement, 3.2.3).
var sysvArgs = [...]uint8{RDI, RSI, RDX, RCX, R8, R9}

// Arg returns integer argument n at the entry of a function: System V on x86-64, cdecl on IA-32. Arguments on the
// stack lie above the return address.
func (m *isa) Arg(n int, regs *arch.Regs, mem arch.Memory) (uint64, error) {
	if n < 0 {
		return 0, fmt.Errorf("cannot read argument %d: the number is negative", n)
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

// ReturnAddress returns the word at the top of the stack.
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

// The registers of system call arguments. syscall takes the fourth in r10, because it overwrites rcx. int 0x80
// takes six. sysenter and 32-bit syscall pass the sixth in memory, but the kernel copies it to ebp before a tracer
// sees the registers.
var (
	syscallArgs64 = [...]uint8{RDI, RSI, RDX, R10, R8, R9}
	syscallArgs32 = [...]uint8{RBX, RCX, RDX, RSI, RDI, RBP}
)

// SyscallArg returns argument n, or 0 if no system call has that many.
func (m *isa) SyscallArg(n int, regs *arch.Regs) uint64 {
	if n < 0 || n >= len(syscallArgs64) {
		return 0
	}
	if m.long {
		return regs[syscallArgs64[n]]
	}
	return regs[syscallArgs32[n]] & 0xffffffff
}

// SyscallNumber returns orig_rax inside a system call. Outside, where the kernel keeps -1 there, it returns rax:
// the number of the call that the instruction at the program counter is about to make.
func (m *isa) SyscallNumber(regs *arch.Regs) uint64 {
	n := regs[OrigRAX]
	if int32(n) == -1 {
		n = regs[RAX]
	}
	return m.wrap(n)
}

// SyscallRet returns the kernel's result, sign-extended. Errors are -1 to -4095.
func (m *isa) SyscallRet(regs *arch.Regs) uint64 {
	if m.long {
		return regs[RAX]
	}
	return uint64(int64(int32(regs[RAX])))
}

// InSyscall reports whether regs are those of a thread that is in a system call or returning from one. A return
// from a signal handler does not count: the kernel marks the registers that it restores.
func InSyscall(regs *arch.Regs) bool { return int32(regs[OrigRAX]) >= 0 }

// int3 is the one-byte breakpoint instruction.
var int3 = [1]byte{0xcc}
