package location

import (
	"debug/elf"
	"fmt"
	"strconv"

	"gotap/engine/image/unwind"
)

// registerName returns the name of the register with the DWARF number reg (System V ABI, x86-64 figure 3.36 and i386
// table 2.14).
func (fd *Finder) registerName(reg uint64) (string, bool) {
	switch {
	case fd.entries.Machine() == elf.EM_X86_64 && reg >= 17 && reg <= 32:
		return "xmm" + strconv.FormatUint(reg-17, 10), true
	case fd.entries.Machine() == elf.EM_386 && reg >= 21 && reg <= 28:
		return "xmm" + strconv.FormatUint(reg-21, 10), true
	}
	return unwind.RegisterName(fd.entries.Machine(), reg)
}

// vectorRegister returns a vector register of ARM that may hold an argument or a result; others are not read. On 32-bit
// ARM s0 has the number 64 and d0 256 (DWARF for the Arm Architecture, 4.1), on 64-bit ARM v0 has 64.
func (fd *Finder) vectorRegister(reg uint64) (Place, bool) {
	switch {
	case fd.entries.Machine() == elf.EM_AARCH64 && reg >= 64 && reg < 72:
		return InRegister("v" + strconv.FormatUint(reg-64, 10)), true
	case fd.entries.Machine() == elf.EM_ARM && reg >= 64 && reg < 80:
		return HalfOf(int(reg - 64)), true
	case fd.entries.Machine() == elf.EM_ARM && reg >= 256 && reg < 264:
		return HalfOf(int(reg-256) * 2), true
	}
	return Place{}, false
}

// register pushes the value in a register.
func (l *locator) register(reg uint64) error {
	if p, ok := l.fd.vectorRegister(reg); ok {
		l.value = true
		return l.push(p)
	}
	name, ok := l.fd.registerName(reg)
	if !ok {
		return fmt.Errorf("it is in register %d, which cannot be read", reg)
	}
	l.value = true
	return l.push(InRegister(name))
}

// based pushes a register plus an offset: an address, or a value when stack_value follows.
func (l *locator) based(reg uint64, off int64) error {
	name, ok := l.fd.registerName(reg)
	if !ok {
		return fmt.Errorf("its location depends on register %d, which cannot be read", reg)
	}
	return l.push(InRegister(name).Add(off))
}
