package module

import (
	"debug/elf"
	"sort"
	"sync"
)

// CodeKind classifies the bytes at an address of an executable section.
type CodeKind uint8

// The kinds. Without mapping symbols everything is CodeUnknown, which callers treat as code.
const (
	CodeUnknown CodeKind = iota
	CodeA32
	CodeThumb
	CodeA64
	CodeData // constants between instructions, branch tables
)

// codeMap lists where code of each kind starts, by mapping symbols, which assemblers write at every change (ELF for the
// Arm Architecture, 5.5.5).
type codeMap struct {
	once sync.Once
	from []uint64 // ascending
	kind []CodeKind
}

// kinds maps the second letter of mapping symbols to kinds.
var kinds = map[byte]CodeKind{'a': CodeA32, 't': CodeThumb, 'x': CodeA64, 'd': CodeData}

// CodeAt returns the kind of code at an address. In a stripped file, which has no mapping symbols, it is that of the
// function's symbol, or without one the instruction set that the program starts in.
func (f *File) CodeAt(vaddr uint64) CodeKind {
	if f.Machine != elf.EM_ARM && f.Machine != elf.EM_AARCH64 {
		return CodeUnknown
	}
	m := &f.codes
	m.once.Do(func() { m.read(f) })
	i := sort.Search(len(m.from), func(i int) bool { return m.from[i] > vaddr }) - 1
	if i >= 0 {
		if r, ok := f.textAt(vaddr); ok && m.from[i] >= r.Start {
			return m.kind[i]
		}
	}
	if f.Machine == elf.EM_AARCH64 {
		return CodeA64
	}
	if fn, ok := f.FuncAt(vaddr); ok && fn.Name != "" {
		return thumbIf(fn.Thumb)
	}
	return thumbIf(f.Entry&1 != 0)
}

// HasCodeMap reports whether the file has mapping symbols.
func (f *File) HasCodeMap() bool {
	f.codes.once.Do(func() { f.codes.read(f) })
	return len(f.codes.from) > 0
}

func thumbIf(thumb bool) CodeKind {
	if thumb {
		return CodeThumb
	}
	return CodeA32
}

// textAt returns the executable section that an address is in.
func (f *File) textAt(vaddr uint64) (Range, bool) {
	for _, r := range f.text {
		if r.Contains(vaddr) {
			return r, true
		}
	}
	return Range{}, false
}

// read reads the mapping symbols of a file, or those of its debug file when it has none.
func (m *codeMap) read(f *File) {
	m.collect(f, f)
	if d := f.Debug(); d != nil && len(m.from) == 0 {
		m.collect(f, d)
	}
	sort.Stable(m)
}

// collect reads the mapping symbols in the symbol table of src, which is f or its debug file.
func (m *codeMap) collect(f, src *File) {
	for _, t := range src.image.Tables(elf.SHT_SYMTAB) {
		t.EachMapping(func(addr uint64, name string) {
			if f.IsText(addr) {
				m.from, m.kind = append(m.from, addr), append(m.kind, kinds[name[1]])
			}
		})
	}
}

// Len, Less and Swap sort by address.
func (m *codeMap) Len() int           { return len(m.from) }
func (m *codeMap) Less(i, j int) bool { return m.from[i] < m.from[j] }
func (m *codeMap) Swap(i, j int) {
	m.from[i], m.from[j] = m.from[j], m.from[i]
	m.kind[i], m.kind[j] = m.kind[j], m.kind[i]
}
