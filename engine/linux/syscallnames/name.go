package syscallnames

import "debug/elf"

// Names returns the names of the system calls of an instruction set by number, with "" for unused numbers, or nil for
// an unknown instruction set. The slice must not be changed.
func Names(machine elf.Machine) []string {
	switch machine {
	case elf.EM_X86_64:
		return amd64
	case elf.EM_386:
		return i386
	case elf.EM_AARCH64:
		return arm64
	case elf.EM_ARM:
		return arm
	}
	return nil
}
