package symtab

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"slices"
	"strings"
	"unsafe"
)

// Image is an ELF file that may have symbol tables. It is immutable.
type Image struct {
	Machine  elf.Machine
	Bits     int // 32 or 64
	Order    binary.ByteOrder
	Sections []*elf.Section
	Read     func(*elf.Section) ([]byte, error) // returns the decompressed contents of a section
}

// The sizes of symbol table entries.
const (
	symSize32 = 16
	symSize64 = 24
)

// Raw is a symbol table as it is in a file. It is immutable.
type Raw struct {
	image   *Image
	entries []byte
	names   string
}

// Tables reads all symbol tables of one type. Tables that cannot be read are ignored, as if the file were stripped.
func (m *Image) Tables(typ elf.SectionType) (tables []Raw) {
	for _, s := range m.Sections {
		if s.Type != typ {
			continue
		}
		if t, ok := m.table(s); ok {
			tables = append(tables, t)
		}
	}
	return tables
}

// LinkedTable reads the symbol table that a section refers to, as relocations do.
func (m *Image) LinkedTable(s *elf.Section) (t Raw, ok bool) {
	if link := m.link(s); link != nil {
		return m.table(link)
	}
	return Raw{}, false
}

// link returns the section that another refers to, such as the names of a symbol table, or nil.
func (m *Image) link(s *elf.Section) *elf.Section {
	if uint64(s.Link) >= uint64(len(m.Sections)) {
		return nil
	}
	return m.Sections[s.Link]
}

// table reads a symbol table and the names it refers to.
func (m *Image) table(s *elf.Section) (t Raw, ok bool) {
	link := m.link(s)
	if link == nil {
		return Raw{}, false
	}
	entries, err := m.Read(s)
	if err != nil {
		return Raw{}, false
	}
	text, err := m.Read(link)
	return Raw{m, entries, unsafe.String(unsafe.SliceData(text), len(text))}, err == nil // nobody writes to text
}

// MayDefine reports whether a symbol table can have a symbol of this name. It searches only the names, and a name may
// be the end of another ("sigaction" of "__sigaction").
func (m *Image) MayDefine(name string) bool {
	wanted := append([]byte(name), 0)
	for _, s := range m.Sections {
		link := m.link(s)
		if s.Type != elf.SHT_SYMTAB && s.Type != elf.SHT_DYNSYM || link == nil {
			continue
		}
		if names, err := m.Read(link); err == nil && bytes.Contains(names, wanted) {
			return true
		}
	}
	return false
}

// entrySize returns the size of an entry in bytes.
func (t *Raw) entrySize() int {
	if t.image.Bits == 32 {
		return symSize32
	}
	return symSize64
}

// Len returns the number of entries, undefined ones included.
func (t *Raw) Len() int { return len(t.entries) / t.entrySize() }

// Name returns the name of an entry without its version, or "".
func (t *Raw) Name(i int) string {
	return symbolName(t.names, t.image.Order.Uint32(t.entries[i*t.entrySize():]))
}

// entry reads an entry.
func (t *Raw) entry(i int) elf.Sym64 {
	p, order := t.entries[i*t.entrySize():], t.image.Order
	if t.image.Bits == 32 {
		return elf.Sym64{Name: order.Uint32(p), Value: uint64(order.Uint32(p[4:])), Size: uint64(order.Uint32(p[8:])),
			Info: p[12], Other: p[13], Shndx: order.Uint16(p[14:])}
	}
	return elf.Sym64{Name: order.Uint32(p), Info: p[4], Other: p[5], Shndx: order.Uint16(p[6:]), Value: order.Uint64(p[8:]), Size: order.Uint64(p[16:])}
}

// symbol returns the definition of an entry. Its name is a substring of the table's names, so it needs no allocation.
func (t *Raw) symbol(i int) (Symbol, bool) {
	raw := t.entry(i)
	s, ok := t.image.classify(raw)
	if !ok {
		return s, false
	}
	s.Name = symbolName(t.names, raw.Name)
	return s, s.Name != "" && !t.image.mapping(s.Name) && !goSection(s)
}

// defines reports whether the table has a definition.
func (t Raw) defines() bool {
	for i := range t.Len() {
		if _, ok := t.symbol(i); ok {
			return true
		}
	}
	return false
}

// each calls visit with the number, the offset of the name, the address, and the type and binding of each entry.
// Addresses of ARM files are without the bit of the Thumb set, those of data, too. It is much quicker than symbol.
func (t *Raw) each(visit func(i int, name uint32, addr uint64, info byte)) {
	size, order := t.entrySize(), t.image.Order
	var thumb uint64
	if t.image.Machine == elf.EM_ARM {
		thumb = 1
	}
	if size == symSize64 && order == binary.ByteOrder(binary.LittleEndian) { // without calls through an interface
		for i, p := 0, t.entries; len(p) >= symSize64; i, p = i+1, p[symSize64:] {
			visit(i, binary.LittleEndian.Uint32(p), binary.LittleEndian.Uint64(p[8:])&^thumb, p[4])
		}
		return
	}
	for i := range t.Len() {
		p := t.entries[i*size:]
		if size == symSize64 {
			visit(i, order.Uint32(p), order.Uint64(p[8:])&^thumb, p[4])
		} else {
			visit(i, order.Uint32(p), uint64(order.Uint32(p[4:]))&^thumb, p[12])
		}
	}
}

// appendTo appends the definitions in a table.
func (t *Raw) appendTo(all []Symbol) []Symbol {
	all = slices.Grow(all, t.Len())
	for i := range t.Len() {
		if s, ok := t.symbol(i); ok {
			all = append(all, s)
		}
	}
	return all
}

// EachMapping calls visit for each mapping symbol with its address and its name, such as "$a".
func (t *Raw) EachMapping(visit func(addr uint64, name string)) {
	for i := range t.Len() {
		raw := t.entry(i)
		// Names that are not mapping symbols are skipped after their first letter.
		if elf.ST_TYPE(raw.Info) != elf.STT_NOTYPE || raw.Shndx == 0 || uint64(raw.Name) >= uint64(len(t.names)) || t.names[raw.Name] != '$' {
			continue
		}
		if name := symbolName(t.names, raw.Name); t.image.mapping(name) {
			visit(raw.Value, name)
		}
	}
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
