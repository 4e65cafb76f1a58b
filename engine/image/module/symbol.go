package module

import (
	"bytes"
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

// symbol is a definition in a symbol table.
type symbol struct {
	name  string // without a version
	addr  uint64
	size  uint64
	kind  Kind
	bind  Bind
	thumb bool // ARM: code in the Thumb set
	label bool // without a type, as in hand-written assembly
}

// The sizes of symbol table entries.
const (
	symSize32 = 16
	symSize64 = 24
)

// readSymbols reads all symbol tables of one type in a file. Tables that cannot be read are ignored, as if the file
// were stripped.
func readSymbols(f *File, typ elf.SectionType) []symbol {
	var all []symbol
	for _, s := range f.elf.Sections {
		if s.Type != typ {
			continue
		}
		if table, names, ok := f.symbolTable(s); ok {
			all = append(all, parseSymbols(f, table, names)...)
		}
	}
	return all
}

// link returns the section that another refers to, such as the names of a symbol table, or nil.
func (f *File) link(s *elf.Section) *elf.Section {
	if uint64(s.Link) >= uint64(len(f.elf.Sections)) {
		return nil
	}
	return f.elf.Sections[s.Link]
}

// symbolTable returns the entries of a symbol table and the names they refer to.
func (f *File) symbolTable(s *elf.Section) (entries []byte, names string, ok bool) {
	link := f.link(s)
	if link == nil {
		return nil, "", false
	}
	entries, err := f.sectionData(s)
	if err != nil {
		return nil, "", false
	}
	text, err := f.sectionData(link)
	return entries, string(text), err == nil
}

// MayDefine reports whether a symbol table of the file, or of its debug file or .gnu_debugdata when it is stripped, can have a symbol of
// this name. Unlike Lookup it searches only the names, and a name may be the end of another ("sigaction" of
// "__sigaction").
func (f *File) MayDefine(name string) bool {
	wanted := append([]byte(name), 0)
	for _, in := range []*File{f, f.Debug(), f.mini()} {
		for i := 0; in != nil && i < len(in.elf.Sections); i++ {
			s := in.elf.Sections[i]
			link := in.link(s)
			if s.Type != elf.SHT_SYMTAB && s.Type != elf.SHT_DYNSYM || link == nil {
				continue
			}
			if names, err := in.sectionData(link); err == nil && bytes.Contains(names, wanted) {
				return true
			}
		}
	}
	return false
}

// parseSymbols reads the entries of one table. Names are substrings of one string, so they need no allocations.
func parseSymbols(f *File, table []byte, names string) []symbol {
	size, entry := symSize64, entry64
	if f.Bits == 32 {
		size, entry = symSize32, entry32
	}
	syms := make([]symbol, 0, len(table)/size)
	for ; len(table) >= size; table = table[size:] {
		raw := entry(f, table)
		if s, ok := classify(f, raw); ok {
			if s.name = symbolName(names, raw.Name); s.name != "" && !f.mapping(s.name) && !goSection(s) {
				syms = append(syms, s)
			}
		}
	}
	return syms
}

// entry64 reads Elf64_Sym.
func entry64(f *File, p []byte) elf.Sym64 {
	return elf.Sym64{Name: f.Order.Uint32(p), Info: p[4], Other: p[5], Shndx: f.Order.Uint16(p[6:]),
		Value: f.Order.Uint64(p[8:]), Size: f.Order.Uint64(p[16:])}
}

// entry32 reads Elf32_Sym, which has the same fields in another order.
func entry32(f *File, p []byte) elf.Sym64 {
	return elf.Sym64{Name: f.Order.Uint32(p), Value: uint64(f.Order.Uint32(p[4:])), Size: uint64(f.Order.Uint32(p[8:])),
		Info: p[12], Other: p[13], Shndx: f.Order.Uint16(p[14:])}
}

// symbolName returns a name from the string table, without the version that linkers add ("memcpy@@GLIBC_2.14").
func symbolName(names string, at uint32) string {
	if uint64(at) >= uint64(len(names)) {
		return ""
	}
	name := names[at:]
	if end := strings.IndexByte(name, 0); end >= 0 {
		name = name[:end]
	}
	// Only .symtab has versions in names.
	if v := strings.IndexByte(name, '@'); v > 0 {
		name = name[:v]
	}
	return name
}

// classify decides whether an entry is a definition that anyone may ask for.
func classify(f *File, raw elf.Sym64) (symbol, bool) {
	if raw.Shndx == 0 || int(raw.Shndx) >= len(f.elf.Sections) {
		return symbol{}, false // undefined, absolute or common
	}
	s := symbol{addr: raw.Value, size: raw.Size, bind: bindOf(elf.ST_BIND(raw.Info))}
	exec := f.elf.Sections[raw.Shndx].Flags&elf.SHF_EXECINSTR != 0
	switch elf.ST_TYPE(raw.Info) {
	case elf.STT_FUNC:
		s.kind = KindFunc
		// The lowest bit of an ARM function's value is its instruction set.
		if f.Machine == elf.EM_ARM && exec {
			s.thumb, s.addr = s.addr&1 != 0, s.addr&^1
		}
		return s, exec
	case elf.STT_GNU_IFUNC:
		s.kind = KindIFunc
		if f.Machine == elf.EM_ARM {
			s.thumb, s.addr = s.addr&1 != 0, s.addr&^1
		}
		return s, exec
	case elf.STT_OBJECT, elf.STT_COMMON:
		s.kind = KindObject
		return s, true
	case elf.STT_TLS:
		s.kind = KindTLS
		return s, true
	case elf.STT_NOTYPE:
		// Hand-written assembly exports functions and data without types; the section decides. Local ones are compiler
		// labels, and those at the end of a section ("_end", "etext") have no contents.
		s.kind, s.label = KindObject, true
		if exec {
			s.kind = KindFunc
		}
		inside := raw.Value < f.elf.Sections[raw.Shndx].Addr+f.elf.Sections[raw.Shndx].Size
		return s, inside && s.bind != BindLocal
	}
	return symbol{}, false
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
func (f *File) mapping(name string) bool {
	if f.Machine != elf.EM_ARM && f.Machine != elf.EM_AARCH64 && f.Machine != elf.EM_RISCV {
		return false
	}
	return len(name) >= 2 && name[0] == '$' && strings.IndexByte("atdx", name[1]) >= 0 && (len(name) == 2 || name[2] == '.')
}

// goSection reports whether a symbol is one that Go's linker puts at the ends of the code ("runtime.text",
// "runtime.text.1", "runtime.etext"). It has the type of a function even when none is at its address.
func goSection(s symbol) bool {
	return s.size == 0 && (strings.HasPrefix(s.name, "runtime.text") || s.name == "runtime.etext")
}
