package syscalls

import "debug/elf"

// Names are the names of the system calls of an instruction set, by number; "" for numbers that no call has. It is nil for
// instruction sets that are not known. The slice is shared and must not be changed.
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
