package register

import (
	"encoding/binary"
	"fmt"
	"slices"

	"gotap/arch"
	"gotap/engine/remote/rsp"
)

// slot is the position of a register of the target in the stub's packets, and in arch.Regs.
type slot struct {
	reg   rsp.Register
	index int
	bits  int
}

// Layout holds the positions of a target's registers. It is never changed.
type Layout struct {
	isa     *ISA
	slots   []slot
	vectors []rsp.Register // by number; empty if the stub does not show them
	control rsp.Register
	status  rsp.Register
	float   []rsp.Register // stack of x86's floating-point unit; empty if the stub does not show it
	flags   rsp.Register   // of that unit
	// Features is the register that describes how an AArch64 processor signs pointers. It has no bytes if the stub
	// does not show it.
	Features rsp.Register
}

// aliases maps registers to GDB's names where package arch uses different ones.
var aliases = map[string]string{"cpsr/aarch64": "pstate"}

// Bind finds the registers of the architecture in the stub's description.
func (a *ISA) Bind(d *rsp.Description) (*Layout, error) {
	b := &Layout{isa: a}
	var have [len(arch.Regs{})]bool
	for _, r := range d.Registers {
		name := r.Name
		if alias := aliases[name+"/"+a.GDBName]; alias != "" {
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
func (a *ISA) bindVectors(b *Layout, d *rsp.Description) {
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
		b.Features, _ = d.Find(featureReg)
	}
}

// featureReg is the register that QEMU shows of a machine (Layout.Features).
const featureReg = "ID_AA64ISAR1_EL1"

// extended is the size in bytes of a number of x86's floating-point unit.
const extended = 10

// bindFloats finds the stack of the floating-point unit: all or none.
func (b *Layout) bindFloats(d *rsp.Description) {
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

// slotOf returns the slot of a register that Bind requires.
func (b *Layout) slotOf(index int) slot {
	return b.slots[slices.IndexFunc(b.slots, func(sl slot) bool { return sl.index == index })]
}

// value returns the number that up to eight bytes are, the lowest first.
func value(p []byte) uint64 {
	var w [8]byte
	copy(w[:], p)
	return binary.LittleEndian.Uint64(w[:])
}

// putValue writes a number into as many bytes as there are.
func putValue(p []byte, v uint64) {
	var w [8]byte
	binary.LittleEndian.PutUint64(w[:], v)
	clear(p)
	copy(p, w[:])
}
