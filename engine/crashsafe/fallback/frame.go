package fallback

import (
	"encoding/binary"

	"gotap/arch"
)

// On ARM no jump leads to an arbitrary address without changing a register, so code like that of Stub is
// impossible. But when a signal handler returns, the kernel loads all registers of a thread from a frame that it
// would have written itself: so rt_sigreturn serves as the jump. The location of the frame does not matter to the
// kernel.

// ReturnCode returns code that makes the system call for which the registers are set, and continues with the
// registers and the signal mask in a frame. Register FrameRegister points to the frame; the stack pointer is the
// program's until the call has been made, for signals that arrive before they are blocked.
func ReturnCode(word int) []byte {
	insns := []uint32{0xd4000001, 0x9100021f, 0xd2801168, 0xd4000001} // svc #0; mov sp, x16; mov x8, #139; svc #0
	if word == 4 {
		insns = []uint32{0xef000000, 0xe1a0d008, 0xe3a070ad, 0xef000000} // svc 0; mov sp, r8; mov r7, #173; svc 0
	}
	var code []byte
	for _, insn := range insns {
		code = binary.LittleEndian.AppendUint32(code, insn)
	}
	return code
}

// FrameRegister returns the index of the register that passes a frame's address to ReturnCode. No system call has
// an argument in it.
func FrameRegister(word int) int {
	if word == 4 {
		return 8
	}
	return 16
}

// FrameAt is the offset of a frame in a region, behind ReturnCode.
const FrameAt = StubAt + 64

// FrameSize is the maximum size of a frame, in bytes. Frames lie at multiples of 16.
const FrameSize = 1152

// noStack is an invalid value of ss_flags: the kernel leaves the alternate stack as it is (do_sigaltstack,
// restore_altstack in kernel/signal.c).
const noStack = 0x40

// sigInfo is the size of siginfo_t, with which a frame begins and which the kernel does not read.
const sigInfo = 128

// Frame returns a signal frame that returns to the registers of home with a signal mask. float is the
// floating-point state as the kernel returns it: struct user_fpsimd_state, or struct user_vfp where words have 4
// bytes.
func Frame(home *arch.Regs, float []byte, mask uint64, word int) []byte {
	if word == 4 {
		return frame32(home, float, mask)
	}
	return frame64(home, float, mask)
}

// frame64 returns struct rt_sigframe of arch/arm64/kernel/signal.c, with struct sigcontext and the records of its
// uapi/asm/sigcontext.h.
func frame64(home *arch.Regs, float []byte, mask uint64) []byte {
	const (
		stackFlags = sigInfo + 24
		sigMask    = sigInfo + 40
		registers  = sigInfo + 184 // x0 to x30, sp, pc, pstate
		records    = sigInfo + 464
		magic      = 0x46508001 // FPSIMD_MAGIC
		size       = 528
		controls   = 512 // fpsr and fpcr in struct user_fpsimd_state
		words      = 34
	)
	le := binary.LittleEndian
	p := make([]byte, records+size, FrameSize)
	le.PutUint32(p[stackFlags:], noStack)
	le.PutUint64(p[sigMask:], mask)
	for i, v := range home[:words] {
		le.PutUint64(p[registers+8*i:], v)
	}
	record := p[records:]
	le.PutUint32(record, magic)
	le.PutUint32(record[4:], size)
	copy(record[8:16], float[controls:controls+8])
	copy(record[16:], float[:controls])
	return append(p, make([]byte, 16)...) // the last record
}

// frame32 returns struct rt_sigframe of arch/arm/kernel/signal.h; a 64-bit kernel has the same for 32-bit processes
// (arch/arm64/kernel/signal32.c).
func frame32(home *arch.Regs, float []byte, mask uint64) []byte {
	const (
		stackFlags = sigInfo + 12
		registers  = sigInfo + 32 // r0 to r15, cpsr
		sigMask    = sigInfo + 104
		space      = sigInfo + 232
		magic      = 0x56465001 // VFP_MAGIC
		size       = 288
		words      = 17
		floating   = 260 // struct user_vfp, without its padding
		all        = sigInfo + 744 + 16
	)
	le := binary.LittleEndian
	p := make([]byte, all, FrameSize)
	le.PutUint32(p[stackFlags:], noStack)
	le.PutUint64(p[sigMask:], mask)
	for i, v := range home[:words] {
		le.PutUint32(p[registers+4*i:], uint32(v))
	}
	le.PutUint32(p[space:], magic)
	le.PutUint32(p[space+4:], size)
	copy(p[space+8:], float[:floating])
	return p
}
