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

// miniFile is the ELF file in .gnu_debugdata, or the reason why it cannot be used.
type miniFile struct {
	*File
	err error
}

// mini returns the ELF file in .gnu_debugdata, or nil when there is none or it is damaged: then it is as if the file
// were stripped.
func (f *File) mini() *File { return f.readMiniOnce().File }

// MiniError returns why the symbols in .gnu_debugdata cannot be used, or nil when they can or there are none.
func (f *File) MiniError() error { return f.readMiniOnce().err }

func (f *File) readMiniOnce() miniFile {
	return f.minimal.get(func() miniFile {
		m, err := f.readMini()
		return miniFile{m, err}
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
		return nil, fmt.Errorf("%s cannot be read: %w", miniSection, err)
	}
	m, err := NewFile(f.Path, bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", miniSection, err)
	}
	if m.Machine != f.Machine || m.Bits != f.Bits {
		return nil, fmt.Errorf("%s cannot be read: it is for another processor", miniSection)
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
