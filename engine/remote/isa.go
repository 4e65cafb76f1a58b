package remote

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"strings"

	"gotap/arch"
	"gotap/arch/arm"
	"gotap/engine/isa"
	"gotap/engine/remote/rsp"
)

// stubISA is an instruction set as a stub shows it: the data of package isa, and GDB's names of the architecture
// and of its registers. The values are created once and never changed.
type stubISA struct {
	*isa.ISA
	name    string // GDB's name of the architecture
	stack   uint   // a kernel's stack has 1<<stack bytes, and begins at a multiple of its size
	vector  string // name of the vector registers, before their number
	vectors int    // their number
	control string // name of the register with the modes of the vector unit
	status  string // name of the register with its flags; "" if that is the same register
}

var (
	amd64ISA = stubISA{ISA: isa.AMD64, name: "i386:x86-64", stack: 14, vector: "xmm", vectors: 16}
	i386ISA  = stubISA{ISA: isa.I386, name: "i386", stack: 13, vector: "xmm", vectors: 8}
	arm64ISA = stubISA{ISA: isa.ARM64, name: "aarch64", stack: 14, vector: "v", vectors: 32, control: "fpcr", status: "fpsr"}
	armISA   = stubISA{ISA: isa.ARM, name: "arm", stack: 13, vector: "d", vectors: 32, control: "fpscr"}
)

var isas = []*stubISA{&amd64ISA, &i386ISA, &arm64ISA, &armISA}

// isaNamed returns the instruction set with GDB's name. Boards report "armv7" and the like for arm.
func isaNamed(name string) *stubISA {
	for _, a := range isas {
		if a.name == name {
			return a
		}
	}
	if strings.HasPrefix(name, "arm") {
		return &armISA
	}
	return nil
}

// isaOf returns the instruction set of a file.
func isaOf(machine elf.Machine) *stubISA {
	for _, a := range isas {
		if a.Machine == machine {
			return a
		}
	}
	return nil
}

// kind returns what a stub needs to know about an instruction to set a breakpoint there: its length, but 3 for a
// long Thumb instruction.
func (a *stubISA) kind(set arch.Arch, in arch.Insn) int {
	switch {
	case set == arm.Thumb && in.Len == 4:
		return 3
	case a.Stepless:
		return in.Len
	}
	return 1
}

// slot is the position of a register of the target in the stub's packets, and in arch.Regs.
type slot struct {
	reg   rsp.Register
	index int
	bits  int
}

// binding holds the positions of a target's registers.
type binding struct {
	slots   []slot
	vectors []rsp.Register // by number; empty if the stub does not show them
	control rsp.Register
	status  rsp.Register
	float   []rsp.Register // stack of x86's floating-point unit; empty if the stub does not show it
	flags   rsp.Register   // of that unit
	current rsp.Register   // the register that holds a kernel's present task
	// features is the register that describes what an AArch64 processor has.
	features rsp.Register
}

// aliases maps registers to GDB's names where package arch uses different ones.
var aliases = map[string]string{"cpsr/aarch64": "pstate"}

// bind finds the registers of the architecture in the stub's description.
func (a *stubISA) bind(d *rsp.Description) (*binding, error) {
	b := new(binding)
	var have [len(arch.Regs{})]bool
	for _, r := range d.Registers {
		name := r.Name
		if alias := aliases[name+"/"+a.name]; alias != "" {
			name = alias
		}
		i, bits, shift, ok := a.RegIndex(name)
		if !ok || shift != 0 || have[i] {
			continue
		}
		have[i] = true
		b.slots = append(b.slots, slot{r, i, min(bits, r.Bits)})
	}
	if !have[a.PC()] || !have[a.SP()] {
		return nil, fmt.Errorf("cannot use the stub's registers: they lack the program counter or the stack pointer of %s", a.Title)
	}
	a.bindVectors(b, d)
	return b, nil
}

// bindVectors finds the vector registers: all or none. SVE's registers begin with those of AArch64's older vector unit.
func (a *stubISA) bindVectors(b *binding, d *rsp.Description) {
	names := []string{a.vector}
	if a == &arm64ISA {
		names = append(names, "z")
	}
	for _, name := range names {
		var all []rsp.Register
		for i := range a.vectors {
			r, ok := d.Find(fmt.Sprintf("%s%d", name, i))
			if !ok {
				break
			}
			all = append(all, r)
		}
		if len(all) == a.vectors || a == &armISA && len(all) == 16 { // VFPv3-D16
			b.vectors = all
			break
		}
	}
	b.control, _ = d.Find(a.control)
	b.status, _ = d.Find(a.status)
	if a == &i386ISA || a == &amd64ISA {
		b.bindFloats(d)
	}
	if a == &arm64ISA {
		b.current, _ = d.Find("SP_EL0")
		b.features, _ = d.Find(featureReg)
	}
}

// bindFloats finds the stack of the floating-point unit: all or none.
func (b *binding) bindFloats(d *rsp.Description) {
	const count = 8
	var all []rsp.Register
	for i := range count {
		if r, ok := d.Find(fmt.Sprintf("st%d", i)); ok && r.Bytes() == extended {
			all = append(all, r)
		}
	}
	var ok bool
	if b.flags, ok = d.Find("fstat"); ok && len(all) == count {
		b.float = all
	}
}

// word reads up to eight bytes, the lowest first.
func word(p []byte) uint64 {
	var w [8]byte
	copy(w[:], p)
	return binary.LittleEndian.Uint64(w[:])
}

// putWord writes a number into as many bytes as there are.
func putWord(p []byte, v uint64) {
	var w [8]byte
	binary.LittleEndian.PutUint64(w[:], v)
	clear(p)
	copy(p, w[:])
}
