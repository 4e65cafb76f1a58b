package rsp

import "fmt"

// Classic returns the register layout of stubs without a description, by GDB's name of the architecture, or nil if
// there is none. It is that of GDB's own tables: for x86 the general registers and segments, as KGDB sends them;
// for 32-bit ARM with the floating-point registers of 1990, which no processor has now, between pc and cpsr.
func Classic(architecture string) *Description {
	d := &Description{Architecture: architecture}
	switch architecture {
	case "arm":
		d.add(32, "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "sp", "lr", "pc")
		d.add(96, "f0", "f1", "f2", "f3", "f4", "f5", "f6", "f7")
		d.add(32, "fps", "cpsr")
	case "aarch64":
		for i := range 31 {
			d.add(64, fmt.Sprintf("x%d", i))
		}
		d.add(64, "sp", "pc")
		d.add(32, "cpsr")
	case "i386:x86-64":
		d.add(64, "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "rip")
		d.add(32, "eflags", "cs", "ss", "ds", "es", "fs", "gs")
	case "i386":
		d.add(32, "eax", "ecx", "edx", "ebx", "esp", "ebp", "esi", "edi", "eip", "eflags", "cs", "ss", "ds", "es", "fs", "gs")
	default:
		return nil
	}
	d.layOut()
	return d
}

// add appends registers of one size.
func (d *Description) add(bits int, names ...string) {
	for _, name := range names {
		d.Registers = append(d.Registers, Register{Name: name, Number: len(d.Registers), Bits: bits})
	}
}
