package module

import (
	"debug/elf"
	"strings"
	"sync"
)

// Reloc is a pointer in a file's memory that the loader fills in.
type Reloc struct {
	Slot     uint64 // address of the pointer, in the file
	Resolver uint64 // IRELATIVE: address of the function that chooses, in the file
}

// relocKinds are the relocation types that fill in pointers to functions: what a resolver returns, a slot of the PLT, an entry
// of the global offset table, a word of data.
type relocKinds struct{ irelative, jump, data, word uint32 }

// pointerRelocs names the types by machine (the processor supplements to the System V ABI).
var pointerRelocs = map[elf.Machine]relocKinds{
	elf.EM_X86_64:  {37, 7, 6, 1},
	elf.EM_386:     {42, 7, 6, 1},
	elf.EM_AARCH64: {1032, 1026, 1025, 257},
	elf.EM_ARM:     {160, 22, 21, 2},
}

// pointers are the relocations of a file that fill in pointers to functions. They are read once: every indirect function that is
// probed asks for them.
type pointers struct {
	once      sync.Once
	irelative []Reloc
	byName    map[string][]uint64 // slots
}

// IRelative lists the pointers of this file to indirect functions of this file: once the loader has relocated the
// module, a pointer holds the address of the chosen implementation. Before, it holds anything. The list must not be changed.
func (f *File) IRelative() []Reloc {
	f.pointers.once.Do(f.readPointers)
	return f.pointers.irelative
}

// Slots lists the pointers of this file to a function of any module by name: in the GOT for calls through the PLT, and in data.
// Where binding is lazy a slot points into the PLT until the first call. The list must not be changed.
func (f *File) Slots(name string) []uint64 {
	f.pointers.once.Do(f.readPointers)
	return f.pointers.byName[name]
}

// readPointers reads the relocations.
func (f *File) readPointers() {
	p := &f.pointers
	byName := map[string][]uint64{}
	kinds := pointerRelocs[f.Machine]
	names := map[*elf.Section][]string{}
	f.eachReloc(func(r rawReloc, s *elf.Section) {
		switch {
		case r.kind == 0:
			return
		case r.kind == kinds.irelative:
			p.irelative = append(p.irelative, Reloc{Slot: r.slot, Resolver: r.addend})
			return
		case r.kind != kinds.jump && r.kind != kinds.data && r.kind != kinds.word:
			return
		}
		if _, ok := names[s]; !ok {
			names[s] = f.relocNames(s)
		}
		if uint64(r.symbol) >= uint64(len(names[s])) {
			return
		}
		if name := names[s][r.symbol]; name != "" {
			byName[name] = append(byName[name], r.slot)
		}
	})
	p.byName = make(map[string][]uint64, len(byName))
	for name, slots := range byName {
		p.byName[strings.Clone(name)] = slots // names are pieces of the whole table, which is not to be kept
	}
}

// relocNames lists the names of the symbol table that a relocation section refers to, undefined ones included.
func (f *File) relocNames(s *elf.Section) []string {
	symtab := f.link(s)
	if symtab == nil {
		return nil
	}
	table, text, ok := f.symbolTable(symtab)
	if !ok {
		return nil
	}
	size := symSize64
	if f.Bits == 32 {
		size = symSize32
	}
	var names []string
	for ; len(table) >= size; table = table[size:] {
		names = append(names, symbolName(text, f.Order.Uint32(table)))
	}
	return names
}

// rawReloc is one relocation entry; for REL sections the addend is read from the slot.
type rawReloc struct {
	slot, addend uint64
	kind, symbol uint32
}

// eachReloc calls each for every relocation that the loader applies.
func (f *File) eachReloc(each func(rawReloc, *elf.Section)) {
	for _, s := range f.elf.Sections {
		// Only sections that are loaded are for the loader; others are left over from linking (--emit-relocs).
		rela := s.Type == elf.SHT_RELA
		if (!rela && s.Type != elf.SHT_REL) || s.Flags&elf.SHF_ALLOC == 0 {
			continue
		}
		data, err := f.sectionData(s)
		if err != nil {
			continue
		}
		words := 2
		if rela {
			words = 3
		}
		for size := words * f.WordSize(); len(data) >= size; data = data[size:] {
			each(f.parseReloc(data, rela), s)
		}
	}
}

// parseReloc reads one entry: offset, info, and for RELA the addend.
func (f *File) parseReloc(p []byte, rela bool) rawReloc {
	if f.Bits == 32 {
		info := f.Order.Uint32(p[4:])
		r := rawReloc{slot: uint64(f.Order.Uint32(p)), kind: info & 0xff, symbol: info >> 8}
		if rela {
			r.addend = uint64(f.Order.Uint32(p[8:]))
		} else if r.kind == pointerRelocs[f.Machine].irelative {
			r.addend, _ = f.word(r.slot)
		}
		return r
	}
	// The halves of r_info are type and symbol, eight bits of type in 32-bit files, thirty-two in others.
	info := f.Order.Uint64(p[8:])
	r := rawReloc{slot: f.Order.Uint64(p), kind: uint32(info), symbol: uint32(info >> 32)}
	if rela {
		r.addend = f.Order.Uint64(p[16:])
	} else {
		r.addend, _ = f.word(r.slot)
	}
	return r
}

// word reads an address-sized word of the file.
func (f *File) word(vaddr uint64) (uint64, bool) {
	p, err := f.Code(vaddr, f.WordSize())
	if err != nil || len(p) < f.WordSize() {
		return 0, false
	}
	return readWord(p, len(p), f.Order), true
}
