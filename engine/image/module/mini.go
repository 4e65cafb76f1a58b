package module

import (
	"bytes"
	"debug/elf"
	"fmt"

	"gotap/engine/image/mapped"
	"gotap/engine/image/xz"
)

// miniSection has an ELF file, compressed with xz, with the symbols of functions that strip removes and .dynsym does
// not have. Fedora and its relatives put it into all programs and libraries (GDB manual, "Debugging information in a
// special section").
const miniSection = ".gnu_debugdata"

// mini returns the ELF file in .gnu_debugdata, or nil when there is none or it is damaged.
func (f *File) mini() *File {
	return f.minimal.get(func() *File {
		m, err := f.readMini()
		if err != nil {
			return nil // as if the file were stripped
		}
		return m
	})
}

// readMini decompresses .gnu_debugdata; nil without an error when the file has none.
func (f *File) readMini() (*File, error) {
	packed, _, err := f.Section(miniSection)
	if err != nil || len(packed) == 0 {
		return nil, err
	}
	data, err := xz.Decode(packed, int(mapped.MostInflated(uint64(len(packed)))))
	if err != nil {
		return nil, fmt.Errorf("cannot read %s of %s: %w", miniSection, f.Path, err)
	}
	m, err := NewFile(f.Path, bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	if m.Machine != f.Machine || m.Bits != f.Bits {
		return nil, fmt.Errorf("cannot read %s of %s: it is for another processor", miniSection, f.Path)
	}
	m.debug.leave()
	m.minimal.leave()
	return m, nil
}

// fullSymbols returns the file that has the full symbol table: the file itself, its debug file, or what .gnu_debugdata
// has of it; nil when it is stripped.
func (f *File) fullSymbols() *File {
	for _, from := range []func() *File{func() *File { return f }, f.Debug, f.mini} {
		if in := from(); in != nil && in.elf.SectionByType(elf.SHT_SYMTAB) != nil {
			return in
		}
	}
	return nil
}
