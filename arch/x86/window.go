package x86

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"gotap/arch"
)

// Jumps in place of instructions: which instructions a jump of five bytes would overwrite, whether they can run
// elsewhere, and their copy. Unlike the copy for a single step, which OutOfLine makes, nothing repairs the thread
// behind this one. So it borrows no register, and what a repair would correct is refused or encoded in another way.

// windows is 64-bit mode, the only one in which probes are jumps.
type windows struct{ *isa }

// shortWindows is the same with jumps of two bytes.
type shortWindows struct{ windows }

// NewShort64 returns x86-64 with jumps of two bytes, which reach some 126 bytes. They fit where no jump of New64 does,
// and lead to one of those (a springboard) in bytes that nothing executes.
func NewShort64() arch.BranchArch { return shortWindows{windows{mode64}} }

// JumpLen returns 5: a jump with a displacement of 32 bits.
func (windows) JumpLen() int { return jumpLen }

// JumpLen returns 2: a jump with a displacement of 8 bits.
func (shortWindows) JumpLen() int { return shortLen }

// Jump returns a jump over at most 2 GiB.
func (windows) Jump(from, to uint64) ([]byte, error) {
	if !reaches(from+jumpLen, to) {
		return nil, &arch.WindowError{Addr: from, Reason: fmt.Sprintf("%#x is more than 2 GiB away", to)}
	}
	return jumpTo(make([]byte, 0, jumpLen), from, to), nil
}

// Jump returns a jump over at most 127 bytes forwards, or 128 backwards.
func (shortWindows) Jump(from, to uint64) ([]byte, error) {
	d := int64(to - (from + shortLen))
	if d != int64(int8(d)) {
		return nil, &arch.WindowError{Addr: from, Reason: fmt.Sprintf("%#x is more than 127 bytes away", to)}
	}
	return []byte{0xeb, byte(d)}, nil
}

// jumpTo appends a jump to code, which is at the address at.
func jumpTo(code []byte, at, to uint64) []byte {
	end := at + uint64(len(code)) + jumpLen
	return binary.LittleEndian.AppendUint32(append(code, 0xe9), uint32(to-end))
}

// reaches reports whether a displacement of 32 bits leads from the end of an instruction to an address.
func reaches(end, to uint64) bool {
	d := int64(to - end)
	return d == int64(int32(d))
}

// ordinals name the instructions of a window, of which there are at most jumpLen.
var ordinals = [jumpLen]string{"first", "second", "third", "fourth", "fifth"}

// WindowAt returns the window of a jump at addr.
func (m windows) WindowAt(code []byte, addr uint64) (arch.Window, error) {
	return m.window(m, code, addr, addr)
}

// WindowOver returns the window of a jump at addr that includes the instruction at last.
func (m windows) WindowOver(code []byte, addr, last uint64) (arch.Window, error) {
	return m.window(m, code, addr, last)
}

// WindowAt returns the window of a jump of two bytes at addr.
func (m shortWindows) WindowAt(code []byte, addr uint64) (arch.Window, error) {
	return m.window(m, code, addr, addr)
}

// WindowOver returns the window of a jump of two bytes at addr that includes the instruction at last.
func (m shortWindows) WindowOver(code []byte, addr, last uint64) (arch.Window, error) {
	return m.window(m, code, addr, last)
}

// window is WindowOver for the jumps of by.
func (m windows) window(by arch.WindowArch, code []byte, addr, last uint64) (arch.Window, error) {
	w := arch.Window{Addr: addr, Arch: by}
	if reason := m.fill(&w, code, last, by.JumpLen()); reason != "" {
		return arch.Window{}, &arch.WindowError{Addr: addr, Reason: reason}
	}
	for _, in := range w.Insns {
		if in.Op.(*inst).relLen != 0 && in.Target > addr && in.Target < w.End() {
			return arch.Window{}, &arch.WindowError{Addr: addr, Reason: "a branch in the window leads into the bytes that the jump would replace"}
		}
	}
	final := w.Insns[len(w.Insns)-1]
	w.Pushes = final.Control == arch.Call || final.Control == arch.IndirCall
	w.FlagsDead = flagsDead(&w, code)
	if w.Completes, w.LastCompletes = completes(w.Insns[0]), completes(final); !w.Completes {
		w.Operand = memOperand(w.Insns[0])
	}
	w.RedZoneFree = w.Insns[0].Control == arch.Return
	return w, nil
}

// fill adds instructions to a window until a jump of some bytes fits in and it includes the one at last. It returns why
// that is not possible, or "".
func (m windows) fill(w *arch.Window, code []byte, last uint64, jump int) (reason string) {
	for w.Len < jump || w.End() <= last {
		if len(w.Insns) == len(ordinals) {
			return fmt.Sprintf("there are more than %d instructions to replace", len(ordinals))
		}
		in, err := m.Decode(code[w.Len:], w.End())
		which := ordinals[len(w.Insns)]
		if err != nil {
			return undecoded(err, which, len(code), w.Len)
		}
		if r := m.immovable(in); r != "" {
			return fmt.Sprintf("the %s instruction %s", which, r)
		}
		w.Insns = append(w.Insns, in)
		w.Len += in.Len
		full := w.Len >= jump && w.End() > last
		switch in.Control {
		case arch.Call, arch.IndirCall:
			if !full {
				return fmt.Sprintf("the %s instruction is a call, behind which there is more to replace", which)
			}
		case arch.Return, arch.Jump, arch.IndirJump:
			if w.End() <= last {
				return fmt.Sprintf("the %s instruction does not continue", which)
			}
			if !full {
				return fillPadding(w, code, which, jump)
			}
		}
	}
	return ""
}

// undecoded describes an error of Decode.
func undecoded(err error, which string, have, used int) string {
	refused := (*arch.RefusedError)(nil)
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF) && have == used:
		return fmt.Sprintf("the function ends after %s", bytesText(used))
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Sprintf("the function ends in the %s instruction", which)
	case errors.As(err, &refused):
		return fmt.Sprintf("the %s instruction cannot be decoded: %s", which, refused.Reason)
	}
	return fmt.Sprintf("the %s instruction cannot be decoded: %v", which, err)
}

// bytesText returns a number of bytes in words.
func bytesText(n int) string {
	if n == 1 {
		return "1 byte"
	}
	return fmt.Sprintf("%d bytes", n)
}

// fillPadding completes a window whose last instruction does not continue. Only padding may follow: something else may
// be in use.
func fillPadding(w *arch.Window, code []byte, which string, jump int) (reason string) {
	for at := w.Len; at < jump; {
		if at >= len(code) {
			return fmt.Sprintf("the function ends after %s, without enough padding behind it", bytesText(w.Len))
		}
		n := paddingLen(code[at:])
		if n == 0 {
			return fmt.Sprintf("the %s instruction does not continue, and what follows it is not padding", which)
		}
		at += n
	}
	w.Len = jump
	return ""
}

// Padding implements arch.BranchArch.
func (windows) Padding(code []byte) (n int) {
	for n < len(code) {
		one := paddingLen(code[n:])
		if one == 0 {
			break
		}
		n += one
	}
	return n
}

// paddingLen returns the length of the nop or int3 at the start of code, or 0. Compilers and linkers put them between
// functions and in front of loops.
func paddingLen(code []byte) int {
	if code[0] == int3[0] {
		return 1
	}
	in, err := decodeInst(code, true)
	if err != nil || !(in.is(mapLegacy, 0x90) && in.rep == 0 && in.rex == 0 || in.is(map0F, 0x1f)) {
		return 0
	}
	return int(in.length)
}

// immovable returns why an instruction has no copy that runs without a stop, as the rest of a sentence, or "".
func (m windows) immovable(insn arch.Insn) string {
	s, err := m.Prepare(insn)
	if refused := (*arch.RefusedError)(nil); errors.As(err, &refused) {
		return "cannot be displaced: " + refused.Reason
	}
	st := s.(*site)
	in := st.in
	switch {
	case insn.Control == arch.Syscall:
		return "is a system call, which shows its address"
	case in.begins():
		return "starts a transaction"
	case privileged(in):
		return "is privileged"
	case insn.Control == arch.Trap:
		return "raises an exception"
	case st.LeavesAddress():
		return "is an x87 instruction, which records its address"
	case in.logsAddress():
		return "records its address in a log"
	case in.enc == legacy && in.opmap == mapLegacy && (in.opcode == 0x9d || in.opcode == 0xcf): // popf, iret
		return "may set the trap flag"
	case in.ripRel && in.addrsize:
		return "has an operand with an address of 32 bits"
	case in.relLen == 1 && in.length > maxLen-growth:
		return "is a branch with too many prefixes"
	}
	return immovableCall(insn, in)
}

// privileged reports instructions that fault in a program, and in and out.
func privileged(in *inst) bool {
	if in.enc != legacy {
		return false
	}
	switch in.opmap {
	case mapLegacy:
		return whyNotOneByte(in) == errPrivileged
	case map0F:
		return in.controlPlain() && whyNot(in) == errPrivileged
	}
	return false
}

// controlPlain reports an instruction that continues with the next one.
func (in *inst) controlPlain() bool { return in.control() == arch.Plain }

// immovableCall returns why a call cannot become a push and a jump, or "". The push changes the stack pointer and the
// word below it before the jump uses its operand. A function that calls another keeps nothing below the stack pointer,
// so an operand with another base is not there.
func immovableCall(insn arch.Insn, in *inst) string {
	if insn.Control != arch.IndirCall {
		return ""
	}
	switch a := in.address(insn.Addr); {
	case in.opcode != 0xff || in.regField() != 2:
		return "is a far call"
	case !in.memory() && gpr[in.rm()] == RSP:
		return "is a call of code on the stack"
	case in.memory() && a.base == RSP && (in.disp < 0 || in.addrsize):
		return "is a call through a pointer below the stack pointer"
	}
	return ""
}

// CopyWindow returns the copy of a window for an address. With back, a jump to the end of the window follows an
// instruction that continues there.
func (m windows) CopyWindow(w *arch.Window, at uint64, back bool) (code []byte, offsets []int, err error) {
	code, offsets = make([]byte, 0, arch.WindowCopySize), make([]int, 0, len(w.Insns))
	for _, insn := range w.Insns {
		offsets = append(offsets, len(code))
		s, err := m.Prepare(insn)
		if err != nil {
			return nil, nil, err
		}
		here := at + uint64(len(code))
		part, ok := s.(*site).at(here).moved()
		if !ok {
			return nil, nil, &arch.WindowError{Addr: w.Addr, Reason: fmt.Sprintf("what the instruction at %#x refers to is out of reach from %#x", insn.Addr, here)}
		}
		code = append(code, part...)
	}
	if !back || !continues(w.Insns[len(w.Insns)-1]) {
		return code, offsets, nil
	}
	if !reaches(at+uint64(len(code))+jumpLen, w.End()) {
		return nil, nil, &arch.WindowError{Addr: w.Addr, Reason: fmt.Sprintf("it is out of reach from %#x", at)}
	}
	return jumpTo(code, at, w.End()), offsets, nil
}

// continues reports whether the copy of an instruction may continue behind itself. That of a call does not: the
// function returns to the window.
func continues(in arch.Insn) bool {
	return in.Control == arch.Plain || in.Control == arch.CondJump
}
