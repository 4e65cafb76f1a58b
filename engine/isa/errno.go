package isa

import (
	"encoding/binary"

	"gotap/arch"
	"gotap/engine/image/module"
)

// errnoNames are the functions by which C libraries find errno of the calling thread: of glibc, musl and Android.
var errnoNames = []string{"__errno_location", "__errno"}

// ErrnoFunction is the function by which the C library of a process finds errno. It is searched for when it is first
// needed, and again while there is none and modules are added. The zero value is that of a new process.
type ErrnoFunction struct {
	entry  uint64 // 0: unknown
	looked int    // number of modules when none was found
}

// In returns the function's address in a process with these modules. ok is false when there is none.
func (f *ErrnoFunction) In(modules []module.Loaded) (entry uint64, ok bool) {
	if f.entry == 0 && f.looked != len(modules) {
		f.entry, _ = findErrno(modules)
		f.looked = len(modules)
	}
	return f.entry, f.entry != 0
}

// findErrno returns the function by which the C library of a process finds errno. ok is false when there is none.
func findErrno(modules []module.Loaded) (entry uint64, ok bool) {
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

// Errno returns errno of the thread with the given registers: the error of the C library's last failed call. entry is
// the result of ErrnoFunction.In. ok is false when errno cannot be determined.
func (a *ISA) Errno(entry uint64, regs *arch.Regs, mem arch.Memory, modules []module.Loaded) (n uint64, ok bool) {
	addr, ok := a.Evaluate(entry, *regs, mem, modules)
	var word [4]byte
	if !ok || mem.ReadMemory(a.Address(addr), word[:]) != nil {
		return 0, false
	}
	return uint64(int64(int32(binary.LittleEndian.Uint32(word[:])))), true
}
