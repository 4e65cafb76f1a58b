package module

import "debug/elf"

// copyRelocs are the relocation types by which the loader copies a library's variable into a program (the processor supplements
// to the System V ABI).
var copyRelocs = map[elf.Machine]uint32{elf.EM_X86_64: 5, elf.EM_386: 5, elf.EM_AARCH64: 1024, elf.EM_ARM: 20}

// copied is a variable of some library that this file has room for.
type copied struct {
	name string
	addr uint64 // in this file
}

// CopyOf is where this file, a program, has its copy of a library's variable, as an address in this file. Code that was compiled to find a
// variable in the program itself makes the linker leave room for it there. The loader then copies what the library begins with, and binds
// everybody to the copy, the library too: what stays in the library is read and written by nobody. ok is false when there is none.
func (f *File) CopyOf(library *File, v *Var) (vaddr uint64, ok bool) {
	if f == library || v.TLS {
		return 0, false
	}
	f.copyOnce.Do(func() { f.copies = f.readCopies() })
	for _, c := range f.copies { // by any of the variable's names: environ is __environ
		for _, same := range library.LookupVar(c.name) {
			if same.Addr == v.Addr && !same.TLS {
				return c.addr, true
			}
		}
	}
	return 0, false
}

// readCopies lists the file's copies of variables.
func (f *File) readCopies() (found []copied) {
	kind := copyRelocs[f.Machine]
	names := map[*elf.Section][]string{}
	f.eachReloc(func(r rawReloc, s *elf.Section) {
		if kind == 0 || r.kind != kind {
			return
		}
		if _, ok := names[s]; !ok {
			names[s] = f.relocNames(s)
		}
		if uint64(r.symbol) < uint64(len(names[s])) {
			found = append(found, copied{names[s][r.symbol], r.slot})
		}
	})
	return found
}
