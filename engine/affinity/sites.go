package affinity

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"

	"gotap/engine/image/module"
	"gotap/engine/isa"
)

// System calls of x86-64 (the kernel's arch/x86/entry/syscalls/syscall_64.tbl).
const (
	SetAffinity = 203 // sched_setaffinity
	GetAffinity = 204 // sched_getaffinity
)

// Site is a place in a file at which the program may be about to read or set its affinity: a syscall instruction, or
// the start of syscall(2).
type Site struct {
	Addr  uint64 // in the file
	Entry bool   // of syscall(2): the call's number is the first argument
}

// syscallInsn is the instruction.
var syscallInsn = []byte{0x0f, 0x05}

// findSites finds the places in a file at which the program may be about to read or set its affinity:
//
//   - all syscall instructions of functions that load the number of such a call into any register;
//   - the start of syscall(2).
//
// An error means that the file has another syscall instruction whose number may be passed by a caller. A breakpoint on
// such an instruction would be hit by any call, and a probed system call can delay signals that are withheld from a
// thread (package sigqueue). In the C library there is none: its functions of this kind get their numbers from the
// library, where every function that loads one of the two numbers makes the call itself. In a static program it cannot
// be told from the program's own code.
func findSites(f *module.File, libC bool) (found []Site, err error) {
	for _, text := range f.Text() {
		code, err := f.Code(text.Start, int(text.End-text.Start))
		if err != nil {
			return nil, err
		}
		functions, err := callers(f, code, text.Start)
		if err != nil {
			return nil, err
		}
		for _, fn := range functions {
			in, err := decode(f, fn)
			if err != nil {
				return nil, err
			}
			if fn.name == "syscall" && (libC || bytes.HasPrefix(in.code, numberFirst)) {
				found = append(found, Site{fn.start, true})
				continue
			}
			sites, open := in.sites()
			if open != 0 && !libC {
				return nil, fmt.Errorf("%s+%#x may make any system call", f.Path, open)
			}
			found = append(found, sites...)
		}
	}
	return found, nil
}

// numberFirst is how glibc's syscall(2) begins: mov %rdi, %rax. In a static program it is recognised by that.
var numberFirst = []byte{0x48, 0x89, 0xf8}

// span is a function of a file.
type span struct {
	start, end uint64
	name       string
}

// callers returns the functions that contain the bytes of a syscall instruction, by address.
func callers(f *module.File, code []byte, start uint64) (found []span, err error) {
	for at := 0; ; at += len(syscallInsn) {
		next := bytes.Index(code[at:], syscallInsn)
		if next < 0 {
			return found, nil
		}
		at += next
		vaddr := start + uint64(at)
		if n := len(found); n > 0 && vaddr < found[n-1].end || f.InPLT(vaddr) {
			continue
		}
		fn, known := f.FuncAt(vaddr)
		if !known || fn.Size == 0 {
			return nil, fmt.Errorf("the function of %s+%#x is not known", f.Path, vaddr)
		}
		found = append(found, span{fn.Addr, fn.Addr + fn.Size, fn.Name})
	}
}

// decoded is a function with the boundaries of its instructions.
type decoded struct {
	span
	code  []byte
	insns []uint64
}

func decode(f *module.File, fn span) (d decoded, err error) {
	d.span = fn
	if d.code, err = f.Code(fn.start, int(fn.end-fn.start)); err != nil {
		return d, err
	}
	if d.insns, err = isa.Boundaries(f, d.code, fn.start); err != nil {
		return d, fmt.Errorf("%s+%#x: %w", f.Path, fn.start, err)
	}
	return d, nil
}

// insn returns the bytes of an instruction.
func (d *decoded) insn(i int) []byte {
	from, to := d.insns[i]-d.start, uint64(len(d.code))
	if i+1 < len(d.insns) {
		to = min(to, d.insns[i+1]-d.start)
	}
	return d.code[from:max(from, to)]
}

// sites returns the syscall instructions of a function that loads one of the two numbers. Otherwise open is one whose
// number is not a constant, or 0.
func (d *decoded) sites() (found []Site, open uint64) {
	loads := slices.ContainsFunc(d.constants(-1), func(n uint64) bool { return n == GetAffinity || n == SetAffinity })
	for i, at := range d.insns {
		switch {
		case !bytes.HasPrefix(d.insn(i), syscallInsn):
		case loads:
			found = append(found, Site{at, false})
		case !d.fixed(i):
			open = at
		}
	}
	return found, open
}

// constants returns the constants that the function loads into a register; -1: into any.
func (d *decoded) constants(register int) (all []uint64) {
	for i := range d.insns {
		if r, v, ok := constant(d.insn(i)); ok && (register < 0 || r == register) {
			all = append(all, v)
		}
	}
	return all
}

// constant reports whether an instruction loads a constant into a register, numbered as in its encoding.
func constant(in []byte) (register int, v uint64, ok bool) {
	rex := byte(0)
	if len(in) > 1 && in[0]&0xf0 == 0x40 {
		rex, in = in[0], in[1:]
	}
	high := int(rex&1) << 3
	switch {
	case len(in) == 5 && in[0]&0xf8 == 0xb8: // mov $imm32, %reg
		return int(in[0]&7) | high, uint64(binary.LittleEndian.Uint32(in[1:])), true
	case len(in) == 6 && in[0] == 0xc7 && in[1]&0xf8 == 0xc0: // mov $imm32, %reg
		return int(in[1]&7) | high, uint64(binary.LittleEndian.Uint32(in[2:])), true
	case len(in) == 2 && (in[0] == 0x31 || in[0] == 0x33) && in[1] == 0xc0 && rex&5 == 0: // xor %eax, %eax
		return 0, 0, true
	}
	return 0, 0, false
}

// reach is how many instructions before a system call its number is searched for.
const reach = 16

// fixed reports whether the number of the system call at an index is a constant: the instructions before it load one,
// or copy a register for which the function has one, and none in between may change it.
func (d *decoded) fixed(i int) bool {
	for j := i - 1; j >= 0 && j >= i-reach; j-- {
		in := d.insn(j)
		if register, _, ok := constant(in); ok && register == 0 {
			return true
		}
		if from, ok := copied(in); ok {
			return len(d.constants(from)) > 0
		}
		if j > 0 && bytes.Equal(in, []byte{0x58}) && d.insn(j - 1)[0] == 0x6a { // push $imm8; pop %rax
			return true
		}
		if !keepsRAX(in) {
			return false
		}
	}
	return false
}

// copied returns the register that an instruction copies to eax or rax.
func copied(in []byte) (from int, ok bool) {
	rex := byte(0)
	if len(in) > 1 && in[0]&0xf0 == 0x40 {
		rex, in = in[0], in[1:]
	}
	switch {
	case len(in) != 2 || in[1]&0xc0 != 0xc0:
	case in[0] == 0x89 && in[1]&7 == 0 && rex&1 == 0:
		return int(in[1]>>3&7) | int(rex&4)<<1, true
	case in[0] == 0x8b && in[1]&0x38 == 0 && rex&4 == 0:
		return int(in[1]&7) | int(rex&1)<<3, true
	}
	return 0, false
}

// keepsRAX reports whether an instruction is known to leave rax unchanged and to continue at the next one.
func keepsRAX(in []byte) bool {
	for len(in) > 1 && (in[0] == 0x66 || in[0] == 0x64 || in[0] == 0xf2 || in[0] == 0xf3) {
		in = in[1:]
	}
	rex := byte(0)
	if len(in) > 1 && in[0]&0xf0 == 0x40 {
		rex, in = in[0], in[1:]
	}
	if len(in) == 1 {
		return in[0] == 0x90 || in[0]&0xf8 == 0x50 || in[0]&0xf8 == 0x58 && (in[0]&7 != 0 || rex&1 != 0) // nop, push, pop
	}
	// The operands of instructions with a ModRM byte: the register of its reg field, and memory or the register of its
	// rm field.
	reg := in[1]>>3&7 != 0 || rex&4 != 0
	rm := in[1]>>6 != 3 || in[1]&7 != 0 || rex&1 != 0
	switch in[0] {
	case 0x38, 0x39, 0x3a, 0x3b, 0x3c, 0x3d, 0x84, 0x85: // cmp, test
		return true
	case 0x01, 0x09, 0x21, 0x29, 0x31, 0x88, 0x89, 0x80, 0x81, 0x83, 0xc0, 0xc1, 0xc6, 0xc7, 0xd1, 0xd3: // to rm
		return rm
	case 0x03, 0x0b, 0x23, 0x2b, 0x33, 0x63, 0x8a, 0x8b, 0x8d: // to reg
		return reg
	case 0xf6, 0xf7: // test, not, neg; mul and div change rax
		return in[1]>>3&7 < 2 || in[1]>>3&7 < 4 && rm
	case 0x0f:
		return keepsRAX0F(in, rex)
	}
	return in[0]&0xf8 == 0xb8 || in[0]&0xf0 == 0x70 || in[0] == 0x6a || in[0] == 0x68 // mov to another register, jcc, push
}

// keepsRAX0F is keepsRAX for instructions whose first byte is 0f.
func keepsRAX0F(in []byte, rex byte) bool {
	switch {
	case in[1]&0xf0 == 0x80, in[1] == 0x1f, in[1] == 0x10, in[1] == 0x11, in[1] == 0x28, in[1] == 0x29, in[1] == 0x7f, in[1] == 0xef: // jcc, nop, moves of vectors
		return true
	case len(in) > 2 && in[1]&0xf0 == 0x90: // setcc
		return in[2]>>6 != 3 || in[2]&7 != 0 || rex&1 != 0
	case len(in) > 2 && (in[1]&0xf0 == 0x40 || in[1] == 0xb6 || in[1] == 0xb7 || in[1] == 0xbe || in[1] == 0xbf): // cmov, movzx, movsx
		return in[2]>>3&7 != 0 || rex&4 != 0
	}
	return false
}
