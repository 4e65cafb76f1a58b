package module

import (
	"debug/elf"
	"strings"
)

// Reloc is a pointer in a file's memory that the loader fills in.
type Reloc struct {
	Slot     uint64 // address of the pointer, in the file
	Resolver uint64 // for IRELATIVE: address of the resolver, in the file
}

// relocKinds are the relocation types that fill in pointers to functions: the result of a resolver, a slot of the PLT,
// an entry of the global offset table, a word of data.
type relocKinds struct{ irelative, jump, data, word uint32 }

// pointerRelocs are the types by machine (the processor supplements to the System V ABI).
var pointerRelocs = map[elf.Machine]relocKinds{
	elf.EM_X86_64:  {37, 7, 6, 1},
	elf.EM_386:     {42, 7, 6, 1},
	elf.EM_AARCH64: {1032, 1026, 1025, 257},
	elf.EM_ARM:     {160, 22, 21, 2},
}

// pointers are the relocations of a file that fill in pointers to functions. Every probe on an indirect function uses
// them.
type pointers struct {
	irelative []Reloc
	byName    map[string][]uint64 // addresses of slots
	callees   map[uint64]Callee   // by slot
}

// IRelative returns the pointers of this file to indirect functions of this file. After the loader has relocated the
// module, a pointer is the address of the chosen implementation. Before, its value is undefined. The list must not be
// changed.
func (f *File) IRelative() []Reloc {
	return f.pointers.get(relocations{f}.pointers).irelative
}

// Slots returns the pointers of this file to a function of any module by name: in the GOT for calls through the PLT,
// and in data. With lazy binding, a slot points into the PLT until the first call. The list must not be changed.
func (f *File) Slots(name string) []uint64 {
	return f.pointers.get(relocations{f}.pointers).byName[name]
}

// relocations reads the relocations of a file.
type relocations struct{ *File }

// pointers reads the relocations that fill in pointers to functions.
func (f relocations) pointers() (p pointers) {
	byName := map[string][]uint64{}
	kinds := pointerRelocs[f.Machine]
	names := map[*elf.Section][]string{}
	f.each(func(r rawReloc, s *elf.Section) {
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
			names[s] = f.names(s)
		}
		if uint64(r.symbol) >= uint64(len(names[s])) {
			return
		}
		if name := names[s][r.symbol]; name != "" {
			byName[name] = append(byName[name], r.slot)
		}
	})
	p.byName, p.callees = make(map[string][]uint64, len(byName)), map[uint64]Callee{}
	for name, slots := range byName {
		name = strings.Clone(name) // names are substrings of the table, which should be freed
		p.byName[name] = slots
		for _, slot := range slots {
			p.callees[slot] = Callee{Symbol: name}
		}
	}
	for _, r := range p.irelative {
		p.callees[r.Slot] = Callee{Addr: r.Resolver}
	}
	return p
}

// names returns the names in the symbol table that a relocation section refers to, including undefined ones.
func (f relocations) names(s *elf.Section) []string {
	table, ok := f.image.LinkedTable(s)
	if !ok {
		return nil
	}
	names := make([]string, table.Len())
	for i := range names {
		names[i] = table.Name(i)
	}
	return names
}

// rawReloc is a relocation entry. For REL sections the addend is read from the slot.
type rawReloc struct {
	slot, addend uint64
	kind, symbol uint32
}

// each calls each for every relocation that the loader applies.
func (f relocations) each(each func(rawReloc, *elf.Section)) {
	for _, s := range f.elf.Sections {
		// The loader applies only sections that are loaded; others are left over from linking (--emit-relocs).
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
			each(f.parse(data, rela), s)
		}
	}
}

// parse reads one entry: offset, info, and for RELA the addend.
func (f relocations) parse(p []byte, rela bool) rawReloc {
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
	// r_info has the type and the symbol, with 8 bits of type in 32-bit files and 32 in others.
	info := f.Order.Uint64(p[8:])
	r := rawReloc{slot: f.Order.Uint64(p), kind: uint32(info), symbol: uint32(info >> 32)}
	if rela {
		r.addend = f.Order.Uint64(p[16:])
	} else {
		r.addend, _ = f.word(r.slot)
	}
	return r
}

// word reads a word of the file of the size of an address.
func (f *File) word(vaddr uint64) (uint64, bool) {
	p, err := f.Code(vaddr, f.WordSize())
	if err != nil || len(p) < f.WordSize() {
		return 0, false
	}
	return readWord(p, len(p), f.Order), true
}

// Callee is where a call leads: to an address of the file, or by name to a function that the loader finds in any
// module.
type Callee struct {
	Addr   uint64 // 0 with Symbol
	Symbol string // as in symbol tables; "" with Addr
}

// Linkage is the pointers of a file through which it calls functions that the loader finds. It is safe for concurrent
// use.
type Linkage struct{ *File }

// Callee returns where a call through a pointer leads that the loader fills in, in the global offset table as a rule.
// For an indirect function of the file, Addr is that of the resolver. ok is false when the loader fills in no function
// there.
func (l Linkage) Callee(slot uint64) (c Callee, ok bool) {
	c, ok = l.pointers.get(relocations(l).pointers).callees[slot]
	return c, ok
}

// GOT returns the address of the global offset table, to which position-independent code of 32-bit x86 refers; 0
// without one.
func (l Linkage) GOT() uint64 {
	for _, name := range []string{".got.plt", ".got"} {
		if s := l.elf.Section(name); s != nil {
			return s.Addr
		}
	}
	return 0
}
