package arm64

import (
	"encoding/binary"
	"fmt"
	"io"
	"strconv"
	"strings"

	"gotap/arch"
)

// a64 is the instruction set; it has no state.
type a64 struct{}

// A64 is AArch64 with the calling convention of Linux. Instructions are always little-endian.
var A64 arch.Arch = a64{}

// Name returns "arm64".
func (a64) Name() string { return "arm64" }

// WordSize returns 8 bytes.
func (a64) WordSize() int { return 8 }

// Decode decodes the instruction at the start of code.
func (a64) Decode(code []byte, addr uint64) (arch.Insn, error) {
	if len(code) < 4 {
		return arch.Insn{}, io.ErrUnexpectedEOF
	}
	w := binary.LittleEndian.Uint32(code)
	r, err := find(w)
	if err != nil {
		return arch.Insn{}, fmt.Errorf("%w: %#08x at %#x", err, w, addr)
	}
	in := arch.Insn{Addr: addr, Len: 4, Control: r.control, Op: &inst{w, r}}
	copy(in.Bytes[:], code[:4])
	in.Target = target(w, addr, r.control)
	return in, nil
}

// target returns the target of a direct branch, and 0 for other instructions.
func target(w uint32, addr uint64, how arch.Control) uint64 {
	switch {
	case how != arch.Jump && how != arch.CondJump && how != arch.Call:
		return 0
	case w>>26&31 == 5: // b, bl
		return addr + uint64(signedField(w, 0, 26)*4)
	case w>>25&63 == 0x1b: // tbz, tbnz
		return addr + uint64(signedField(w, 5, 14)*4)
	}
	return addr + uint64(signedField(w, 5, 19)*4)
}

// Text returns the disassembly in GNU syntax. A lock serializes calls, because the disassembler keeps state in a
// package variable.
func (a64) Text(code []byte, addr uint64) string {
	if len(code) < 4 {
		return "(bad)"
	}
	return text(binary.LittleEndian.Uint32(code))
}

// breakpoint is brk #0.
var breakpoint = []byte{0x00, 0x00, 0x20, 0xd4}

// Breakpoint returns brk #0, which is as long as every instruction.
func (a64) Breakpoint(arch.Insn) []byte { return breakpoint }

// BreakpointPC returns pc: the exception is taken at the instruction, not behind it.
func (a64) BreakpointPC(pc uint64) uint64 { return pc }

// SlotSize returns the length of a copy that OutOfLine makes.
func (a64) SlotSize() int { return 8 }

// PC returns the index of the program counter.
func (a64) PC() int { return regPC }

// SP returns the index of the stack pointer.
func (a64) SP() int { return regSP }

// FP returns the index of x29, which the procedure call standard reserves for frame records (IHI 0055, 5.2.3).
func (a64) FP() int { return regFP }

// Ret returns the index of x0.
func (a64) Ret() int { return 0 }

// SyscallNumber returns x8.
func (a64) SyscallNumber(r *arch.Regs) uint64 { return r[8] }

// SyscallRet returns the kernel's result in x0. Errors are -1 to -4095.
func (a64) SyscallRet(r *arch.Regs) uint64 { return r[0] }

// SyscallArg returns argument n of a system call, or 0 if no system call has that many.
func (a64) SyscallArg(n int, regs *arch.Regs) uint64 {
	if n < 0 || n > 5 {
		return 0
	}
	return regs[n]
}

// named are the registers other than the numbered x and w. The flags are the NZCV bits of PSTATE, shifted down.
var named = map[string]struct{ index, bits, shift int }{
	"sp": {regSP, 64, 0}, "wsp": {regSP, 32, 0}, "pc": {regPC, 64, 0}, "lr": {regLR, 64, 0}, "fp": {regFP, 64, 0},
	"pstate": {regPState, 64, 0}, "cpsr": {regPState, 32, 0}, "nzcv": {regPState, 4, 28},
}

// RegIndex finds a register by its name: x0 to x30, their halves w0 to w30, and the named ones.
func (a64) RegIndex(name string) (index, bits, shift int, ok bool) {
	if r, ok := named[name]; ok {
		return r.index, r.bits, r.shift, true
	}
	if len(name) < 2 || name[0] != 'x' && name[0] != 'w' || strings.HasPrefix(name[1:], "0") && len(name) > 2 {
		return 0, 0, 0, false
	}
	n, err := strconv.ParseUint(name[1:], 10, 8)
	if err != nil || n > 30 {
		return 0, 0, 0, false
	}
	if name[0] == 'w' {
		return int(n), 32, 0, true
	}
	return int(n), 64, 0, true
}

// Arg returns integer argument n at the entry of a function: x0 to x7, then words of the stack (AAPCS64, 6.8.2).
func (a64) Arg(n int, regs *arch.Regs, mem arch.Memory) (uint64, error) {
	switch {
	case n < 0:
		return 0, fmt.Errorf("cannot read argument %d: the number is negative", n)
	case n < 8:
		return regs[n], nil
	}
	p := make([]byte, 8)
	if err := mem.ReadMemory(regs[regSP]+uint64(n-8)*8, p); err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint64(p), nil
}

// ReturnAddress returns the link register, without a signature.
func (a64) ReturnAddress(regs *arch.Regs, _ arch.Memory) (uint64, error) {
	return stripped(regs[regLR]), nil
}
