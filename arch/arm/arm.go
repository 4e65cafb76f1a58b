package arm

import (
	"encoding/binary"
	"fmt"
	"strconv"

	"gotap/arch"
)

// isa is one of the two instruction sets of 32-bit ARM. Values are immutable.
type isa struct{ thumb bool }

// The instruction sets, with the calling convention of Linux (EABI). Both are little-endian.
var (
	A32   arch.Arch = &isa{}
	Thumb arch.Arch = &isa{thumb: true}
)

// Name returns "arm" or "thumb".
func (s *isa) Name() string {
	if s.thumb {
		return "thumb"
	}
	return "arm"
}

// WordSize returns 4 bytes.
func (s *isa) WordSize() int { return 4 }

// The breakpoints are undefined instructions that the kernel turns into SIGTRAP. The one of A32 has the condition
// of the instruction that it displaces.
const breakpointA32 = 0x07f001f0

var (
	breakpoints = breakpointsA32()
	breakpoint2 = []byte{0x01, 0xde}
	breakpoint4 = []byte{0xf0, 0xf7, 0x00, 0xa0}
)

// breakpointsA32 returns the breakpoint for each condition. An instruction without a condition gets the one that
// always executes.
func breakpointsA32() (out [16][]byte) {
	for cond := range uint32(16) {
		out[cond] = binary.LittleEndian.AppendUint32(nil, min(cond, 14)<<28|breakpointA32)
	}
	return out
}

// Breakpoint returns an undefined instruction as long as the one that it displaces.
func (s *isa) Breakpoint(in arch.Insn) []byte {
	switch {
	case !s.thumb:
		return breakpoints[in.Bytes[3]>>4]
	case in.Len == 2:
		return breakpoint2
	}
	return breakpoint4
}

// BreakpointPC returns pc: the kernel reports the address of an undefined instruction itself.
func (s *isa) BreakpointPC(pc uint64) uint64 { return pc }

// SlotSize returns the length of a copy that OutOfLine makes.
func (s *isa) SlotSize() int { return 12 }

// PC returns the index of r15. It holds the address of the instruction itself; the program reads it with an offset.
func (s *isa) PC() int { return regPC }

// SP returns the index of r13.
func (s *isa) SP() int { return regSP }

// Ret returns the index of r0 (Procedure Call Standard for the Arm Architecture, IHI 0042, 6.4).
func (s *isa) Ret() int { return 0 }

// FP returns r11 in A32 and r7 in Thumb, which compilers use as frame pointers if at all.
func (s *isa) FP() int {
	if s.thumb {
		return 7
	}
	return regFP
}

// named are the registers that have names of their own.
var named = map[string]int{
	"sb": 9, "sl": 10, "fp": regFP, "ip": regIP, "sp": regSP, "lr": regLR, "pc": regPC, "cpsr": regCPSR, "orig_r0": 17,
}

// RegIndex finds a register by its name: r0 to r15, sp, lr, pc, cpsr, orig_r0 and the names of the procedure call
// standard. "fp" is r11 in both instruction sets, as in disassemblers.
func (s *isa) RegIndex(name string) (index, bits, shift int, ok bool) {
	if n, ok := named[name]; ok {
		return n, 32, 0, true
	}
	if len(name) < 2 || name[0] != 'r' || name[1] == '0' && len(name) > 2 {
		return 0, 0, 0, false
	}
	n, err := strconv.ParseUint(name[1:], 10, 8)
	if err != nil || n > 15 {
		return 0, 0, 0, false
	}
	return int(n), 32, 0, true
}

// Arg returns integer argument n at the entry of a function: r0 to r3, then words of the stack (AAPCS32, 6.5).
func (s *isa) Arg(n int, regs *arch.Regs, mem arch.Memory) (uint64, error) {
	switch {
	case n < 0:
		return 0, fmt.Errorf("cannot read argument %d: the number is negative", n)
	case n < 4:
		return regs[n], nil
	}
	p := make([]byte, 4)
	if err := mem.ReadMemory(uint64(uint32(regs[regSP])+uint32(n-4)*4), p); err != nil {
		return 0, err
	}
	return uint64(binary.LittleEndian.Uint32(p)), nil
}

// ReturnAddress returns the link register. Bit 0 is set if the caller is Thumb code.
func (s *isa) ReturnAddress(regs *arch.Regs, _ arch.Memory) (uint64, error) { return regs[regLR], nil }

// SyscallArg returns argument n, r0 to r6, or 0 if no system call has that many.
func (s *isa) SyscallArg(n int, regs *arch.Regs) uint64 {
	if n < 0 || n > 6 {
		return 0
	}
	return regs[n]
}

// SyscallNumber returns r7, as in EABI.
func (s *isa) SyscallNumber(regs *arch.Regs) uint64 { return regs[7] }

// SyscallRet returns the kernel's result, sign-extended. Errors are -1 to -4095.
func (s *isa) SyscallRet(regs *arch.Regs) uint64 { return uint64(int64(int32(regs[0]))) }
