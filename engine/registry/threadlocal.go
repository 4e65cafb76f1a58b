package registry

import (
	"debug/elf"

	"gotap/compile"
	"gotap/engine/image/module"
	"gotap/engine/image/symtab"
)

// Thread-local variables of the main program are at a fixed distance from the thread pointer, below it on x86-64 (ELF
// Handling For Thread-Local Storage, variant II). Those of libraries are found through a table of the thread, which is
// not read.

// variable returns the access to the address of a variable.
func variable(v *symtab.Var) compile.Access {
	a := compile.Access{Base: compile.BaseAddr, Value: int64(v.Addr)}
	if v.TLS {
		a.Base = compile.BaseThread
	}
	return a
}

// threadLocal makes an access to a thread-local variable of a file one that starts from the thread pointer.
func (g *Globals) threadLocal(f *module.File, name string, a compile.Access) (compile.Access, error) {
	switch {
	case g.Modules == nil || len(g.Modules()) == 0 || g.Modules()[0] != f:
		return a, &GlobalError{name, "it is a thread-local variable of a library, whose place differs from thread to thread", "read it through a pointer that the program has"}
	case f.ELF().Machine != elf.EM_X86_64:
		return a, &GlobalError{name, "thread-local variables are read on x86-64 only", "read it through a pointer that the program has"}
	}
	size, ok := threadStorage(f)
	if !ok {
		return a, &GlobalError{name, "the file has no thread-local variables", ""}
	}
	a.Base, a.Reg, a.Value = compile.BaseRegOffset, "fs_base", a.Value-size
	if a.Ref.Known() {
		a.Ref.Module = f.Path
	}
	return a, nil
}

// threadStorage returns the bytes between the first thread-local variable of a main program and the thread pointer. ok
// is false if it has none.
func threadStorage(f *module.File) (size int64, ok bool) {
	for _, p := range f.ELF().Progs {
		if p.Type == elf.PT_TLS {
			align := max(p.Align, 1)
			return int64((p.Memsz + p.Vaddr%align + align - 1) / align * align), true
		}
	}
	return 0, false
}
