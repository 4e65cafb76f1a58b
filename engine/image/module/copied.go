package module

import (
	"debug/elf"

	"gotap/engine/image/symtab"
)

// copyRelocs are the relocation types by which the loader copies a library's variable into a program (the processor
// supplements to the System V ABI).
var copyRelocs = map[elf.Machine]uint32{elf.EM_X86_64: 5, elf.EM_386: 5, elf.EM_AARCH64: 1024, elf.EM_ARM: 20}

// copied is a variable of a library that the loader copies into this file.
type copied struct {
	name string
	addr uint64 // in this file
}

// CopyOf returns the address in this file, a program, of its copy of a library's variable. The linker reserves space
// for the copy when the program's code was compiled to use a variable of its own. The loader copies the initial value
// and binds all modules to the copy, including the library, so the original is unused. ok is false when there is no
// copy.
func (f *File) CopyOf(library *File, v *symtab.Var) (vaddr uint64, ok bool) {
	if f == library || v.TLS {
		return 0, false
	}
	for _, c := range f.copies.get(relocations{f}.copies) { // by any of the variable's names: environ is __environ
		for _, same := range library.LookupVar(c.name) {
			if same.Addr == v.Addr && !same.TLS {
				return c.addr, true
			}
		}
	}
	return 0, false
}

// copies returns the file's copies of variables.
func (f relocations) copies() (found []copied) {
	kind := copyRelocs[f.Machine]
	names := map[*elf.Section][]string{}
	f.each(func(r rawReloc, s *elf.Section) {
		if kind == 0 || r.kind != kind {
			return
		}
		if _, ok := names[s]; !ok {
			names[s] = f.names(s)
		}
		if uint64(r.symbol) < uint64(len(names[s])) {
			found = append(found, copied{names[s][r.symbol], r.slot})
		}
	})
	return found
}
