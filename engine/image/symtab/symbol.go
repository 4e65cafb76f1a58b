package symtab

import (
	"debug/elf"
	"strings"
)

// Kind is the kind of a symbol.
type Kind uint8

// The kinds of symbols that are used.
const (
	KindFunc   Kind = iota
	KindIFunc       // a function that the loader chooses by calling the code at the symbol's address
	KindObject      // a variable
	KindTLS         // a thread-local variable; its address is an offset in each thread's block
)

// Bind is the visibility of a symbol outside its file.
type Bind uint8

// The bindings, most visible first.
const (
	BindGlobal Bind = iota
	BindWeak
	BindLocal
)

// Symbol is a definition in a symbol table.
type Symbol struct {
	Name  string // without a version
	Addr  uint64 // in the file
	Size  uint64 // in bytes
	Kind  Kind
	Bind  Bind
	thumb bool // ARM: code in the Thumb set
	label bool // without a type, as in hand-written assembly
}

// classify decides whether an entry is a definition that anyone may ask for.
func (m *Image) classify(raw elf.Sym64) (Symbol, bool) {
	if raw.Shndx == 0 || int(raw.Shndx) >= len(m.Sections) {
		return Symbol{}, false // undefined, absolute or common
	}
	s := Symbol{Addr: raw.Value, Size: raw.Size, Bind: bindOf(elf.ST_BIND(raw.Info))}
	exec := m.Sections[raw.Shndx].Flags&elf.SHF_EXECINSTR != 0
	switch elf.ST_TYPE(raw.Info) {
	case elf.STT_FUNC:
		s.Kind = KindFunc
		// The lowest bit of an ARM function's value is its instruction set.
		if m.Machine == elf.EM_ARM && exec {
			s.thumb, s.Addr = s.Addr&1 != 0, s.Addr&^1
		}
		return s, exec
	case elf.STT_GNU_IFUNC:
		s.Kind = KindIFunc
		if m.Machine == elf.EM_ARM {
			s.thumb, s.Addr = s.Addr&1 != 0, s.Addr&^1
		}
		return s, exec
	case elf.STT_OBJECT, elf.STT_COMMON:
		s.Kind = KindObject
		return s, true
	case elf.STT_TLS:
		s.Kind = KindTLS
		return s, true
	case elf.STT_NOTYPE:
		// Hand-written assembly exports functions and data without types; the section decides. Local ones are compiler
		// labels, and those at the end of a section ("_end", "etext") have no contents.
		s.Kind, s.label = KindObject, true
		if exec {
			s.Kind = KindFunc
		}
		inside := raw.Value < m.Sections[raw.Shndx].Addr+m.Sections[raw.Shndx].Size
		return s, inside && s.Bind != BindLocal
	}
	return Symbol{}, false
}

// bindOf orders the bindings of ELF by visibility.
func bindOf(b elf.SymBind) Bind {
	switch b {
	case elf.STB_LOCAL:
		return BindLocal
	case elf.STB_WEAK:
		return BindWeak
	}
	return BindGlobal // STB_GNU_UNIQUE too
}

// mapping reports whether a name is a mapping symbol, which marks the kind of code or data at its address (ELF for the
// Arm Architecture, 5.5.5: $a, $t, $d; AArch64: $x, $d; all with an optional ".suffix").
func (m *Image) mapping(name string) bool {
	if m.Machine != elf.EM_ARM && m.Machine != elf.EM_AARCH64 && m.Machine != elf.EM_RISCV {
		return false
	}
	return len(name) >= 2 && name[0] == '$' && strings.IndexByte("atdx", name[1]) >= 0 && (len(name) == 2 || name[2] == '.')
}

// goSection reports whether a symbol is one that Go's linker puts at the ends of the code ("runtime.text",
// "runtime.text.1", "runtime.etext"). It has the type of a function even when none is at its address.
func goSection(s Symbol) bool {
	return s.Size == 0 && (strings.HasPrefix(s.Name, "runtime.text") || s.Name == "runtime.etext")
}
