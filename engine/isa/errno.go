package isa

import (
	"encoding/binary"

	"gotap/arch"
	"gotap/arch/x86"
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

// ErrnoOffset returns where errno of a thread lies, from the base of fs on, if it is the same for all threads of a
// process. entry is the result of ErrnoFunction.In. The function is evaluated for a thread that there is not, of whose
// data only the address at their start may be read: what a function reads that asks for the module's data is not known.
func (a *ISA) ErrnoOffset(entry uint64, mem arch.Memory, modules []module.Loaded) (offset int64, ok bool) {
	if a != AMD64 {
		return 0, false
	}
	const farthest = 1 << 20
	for _, data := range []uint64{0x3f00_1234_5000, 0x2a00_4321_6780} {
		var regs arch.Regs
		regs[x86.FSBase], regs[a.SP()] = data, data-2*farthest
		addr, ok := a.Evaluate(entry, regs, ownData{mem, data}, modules)
		found := int64(addr - data)
		// Before the loader has relocated the library, the offset reads as 0.
		if !ok || found == 0 || found < -farthest || found > farthest || offset != 0 && found != offset {
			return 0, false
		}
		offset = found
	}
	return offset, true
}

// ownData is the memory of a process with the data of a thread, which begin with their address. None of these data can
// be read otherwise, nor written.
type ownData struct {
	arch.Memory
	at uint64
}

// ReadMemory implements arch.Memory.
func (m ownData) ReadMemory(addr uint64, p []byte) error {
	const near = 1 << 30
	switch {
	case addr == m.at && len(p) == 8:
		binary.LittleEndian.PutUint64(p, m.at)
		return nil
	case addr-m.at+near < 2*near:
		return &arch.FaultError{Addr: addr}
	}
	return m.Memory.ReadMemory(addr, p)
}
