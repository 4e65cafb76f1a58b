package dwarftest

import (
	"debug/dwarf"
	"debug/elf"
	"encoding/binary"
)

// Attrs are the attributes of an entry. Values are encoded by their Go type: a string, an address (uint64), a number of
// eight bytes (int64), another entry, an expression ([]byte), an Offset into another section, or a flag.
type Attrs = map[dwarf.Attr]any

// DIE is an entry to encode.
type DIE struct {
	Tag   dwarf.Tag
	Attrs Attrs
	Kids  []*DIE

	at uint32 // offset in .debug_info, known after the first of two encodings
}

// File is an ELF file for x86-64 that consists of debug sections.
type File struct{ Info, Abbrev, Line []byte }

// Name returns a name that no file has.
func (c *File) Name() string { return "example" }

// Sections returns one of the debug sections.
func (c *File) Sections(name string) ([][]byte, error) {
	data, _, err := c.Section(name)
	return [][]byte{data}, err
}

// Machine returns x86-64.
func (c *File) Machine() elf.Machine { return elf.EM_X86_64 }

// Section returns one of the debug sections.
func (c *File) Section(name string) ([]byte, uint64, error) {
	return map[string][]byte{".debug_info": c.Info, ".debug_abbrev": c.Abbrev, ".debug_line": c.Line}[name], 0, nil
}

// Encode returns a file with one unit of DWARF 4, with an abbreviation for each entry.
func Encode(root *DIE) *File { return EncodeFrom(root, 1) }

// EncodeFrom is Encode with the codes of abbreviations counted from first on, where compilers count from 1.
func EncodeFrom(root *DIE, first uint64) *File {
	var c File
	for range 2 { // the first round finds the offsets that references need
		c = File{Info: []byte{0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 8}}
		codes := first - 1
		c.add(root, &codes)
		c.Abbrev = append(c.Abbrev, 0)
		binary.LittleEndian.PutUint32(c.Info, uint32(len(c.Info)-4))
	}
	return &c
}

// add encodes an entry and its children.
func (c *File) add(d *DIE, codes *uint64) {
	*codes++
	d.at = uint32(len(c.Info))
	c.Info = binary.AppendUvarint(c.Info, *codes)
	c.Abbrev = binary.AppendUvarint(binary.AppendUvarint(c.Abbrev, *codes), uint64(d.Tag))
	hasKids := byte(0)
	if len(d.Kids) > 0 {
		hasKids = 1
	}
	c.Abbrev = append(c.Abbrev, hasKids)
	for attr, v := range d.Attrs {
		c.Abbrev = append(binary.AppendUvarint(c.Abbrev, uint64(attr)), c.value(v))
	}
	c.Abbrev = append(c.Abbrev, 0, 0)
	for _, kid := range d.Kids {
		c.add(kid, codes)
	}
	if len(d.Kids) > 0 {
		c.Info = append(c.Info, 0)
	}
}

// Offset is an offset into another section.
type Offset uint32

// value writes a value and returns its form (DWARF 4, 7.5.4).
func (c *File) value(v any) (form byte) {
	switch v := v.(type) {
	case string:
		c.Info = append(append(c.Info, v...), 0)
		return 0x08
	case Offset:
		c.Info = binary.LittleEndian.AppendUint32(c.Info, uint32(v))
		return 0x17
	case uint64:
		c.Info = binary.LittleEndian.AppendUint64(c.Info, v)
		return 0x01
	case int64:
		c.Info = binary.LittleEndian.AppendUint64(c.Info, uint64(v))
		return 0x07
	case *DIE:
		c.Info = binary.LittleEndian.AppendUint32(c.Info, v.at)
		return 0x13
	case []byte:
		c.Info = append(binary.AppendUvarint(c.Info, uint64(len(v))), v...)
		return 0x18
	}
	return 0x19 // a flag that is present
}

// Languages of units.
const (
	C         = int64(0x0c)
	CPlusPlus = int64(0x04)
	Go        = int64(0x16)
)

// Offset returns the offset of an entry in .debug_info, once it has been encoded.
func (d *DIE) Offset() uint32 { return d.at }
