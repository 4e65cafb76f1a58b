package isa

import (
	"encoding/binary"

	"gotap/arch"
	"gotap/engine/module"
)

// errnoNames are the functions by which C libraries find errno for the calling thread: glibc's and musl's, and Android's.
var errnoNames = []string{"__errno_location", "__errno"}

// ErrnoFunction finds the function by which the C library of a process finds errno; ok is false when there is none.
func ErrnoFunction(modules []module.Loaded) (entry uint64, ok bool) {
	for i := range modules {
		m := &modules[i]
		if m.File == nil || m.Err != nil {
			continue
		}
		for _, name := range errnoNames {
			for _, found := range m.File.Lookup(name) {
				if found.Name == name && !found.Part {
					return m.Addr(found.Func.Addr), true
				}
			}
		}
	}
	return 0, false
}

// Errno is errno of the thread whose registers are given: the number that the C library's last failed call left there. entry is
// what ErrnoFunction found. ok is false when it cannot be told.
func (a *ISA) Errno(entry uint64, regs *arch.Regs, mem arch.Memory, modules []module.Loaded) (n uint64, ok bool) {
	addr, ok := a.Evaluate(entry, *regs, mem, modules)
	var word [4]byte
	if !ok || mem.ReadMemory(a.Address(addr), word[:]) != nil {
		return 0, false
	}
	return uint64(int64(int32(binary.LittleEndian.Uint32(word[:])))), true
}
