package module

import (
	"debug/elf"
	"slices"
)

// Where pointers in data lead: jump tables, tables of labels, and whatever else has an address of code.

// maxTable bounds the bytes of a jump table that are read.
const maxTable = 64 << 10

// readTables reads what may be jump tables: the addresses that functions with an indirect jump load. A table ends at
// the next one, or before the first entry that does not lead to code.
func (r *targetReader) readTables() {
	slices.Sort(r.bases)
	r.bases = slices.Compact(r.bases)
	for i, base := range r.bases {
		size := uint64(maxTable)
		if i+1 < len(r.bases) {
			size = min(size, r.bases[i+1]-base)
		}
		found := 0
		jumpTable{r.File, base}.each(size, func(target uint64) {
			set(r.pointed, target)
			found++
		})
		if found > 0 {
			r.tables = append(r.tables, base)
		}
	}
	r.bases = nil
}

// jumpTable is what may be a jump table at an address of a file.
type jumpTable struct {
	*File
	base uint64
}

// each calls visit for the entries of the table, as far as they lead to code: either addresses, or
// offsets of 32 bits from the start of the table.
func (t jumpTable) each(size uint64, visit func(target uint64)) {
	const first = 16 // most are no table
	table, err := t.Code(t.base, int(min(first, size)))
	if err != nil || !t.leads(table) {
		return
	}
	if table, err = t.Code(t.base, int(size)); err != nil {
		return
	}
	for p := table; len(p) >= t.WordSize(); p = p[t.WordSize():] {
		target := readWord(p, t.WordSize(), t.Order)
		if !t.IsText(target) {
			break
		}
		visit(target)
	}
	for p := table; len(p) >= 4; p = p[4:] {
		target := t.wrap(t.base + uint64(int64(int32(t.Order.Uint32(p)))))
		if !t.IsText(target) {
			break
		}
		visit(target)
	}
}

// leads reports whether the first entry of a jump table leads to code.
func (t jumpTable) leads(table []byte) bool {
	if len(table) >= t.WordSize() && t.IsText(readWord(table, t.WordSize(), t.Order)) {
		return true
	}
	return len(table) >= 4 && t.IsText(t.wrap(t.base+uint64(int64(int32(t.Order.Uint32(table))))))
}

// relativeRelocs are the relocation types of a pointer into the file itself (the processor supplements to the System V
// ABI).
var relativeRelocs = map[elf.Machine]uint32{elf.EM_X86_64: 8, elf.EM_386: 8, elf.EM_AARCH64: 1027, elf.EM_ARM: 23}

// shtRELR is the type of a section of packed relocations, which package elf lacks.
const shtRELR = 19

// readPointers reads the pointers to code that data contains. In position-independent files, relocations have them,
// except packed ones, whose pointers are in the data like those of other files.
func (r *targetReader) readPointers() {
	kind := relativeRelocs[r.Machine]
	relocations{r.File}.each(func(reloc rawReloc, _ *elf.Section) {
		if kind != 0 && reloc.kind == kind {
			set(r.pointed, reloc.addend)
		}
	})
	packed := slices.ContainsFunc(r.elf.Sections, func(s *elf.Section) bool { return s.Type == shtRELR })
	if r.PIE && !packed {
		return
	}
	for _, s := range r.Segments {
		if s.Flags&elf.PF_X == 0 {
			r.readWords(Range{s.Vaddr, s.Vaddr + s.FileSize})
		}
	}
}

// readWords reads a range of data that may contain pointers. Compilers and linkers align pointers.
func (r *targetReader) readWords(data Range) {
	word := uint64(r.WordSize())
	from := (data.Start + word - 1) / word * word
	for from < data.End {
		p, err := r.Code(from, int(min(readSize, data.End-from)))
		if err != nil {
			r.err = err
			return
		}
		for ; len(p) >= int(word); p = p[word:] {
			if v := readWord(p, int(word), r.Order); v != 0 {
				set(r.pointed, v)
			}
		}
		from += readSize
	}
}

// sequenceSize is the size of struct rseq_cs: version, flags, start, length and abort address.
const sequenceSize = 32

// readSequences reads the descriptions of restartable sequences. Programs that declare them put them into the section
// __rseq_cs; others make them at run time, and are not found. In position-independent files, relocations have the
// addresses.
func (r *targetReader) readSequences() {
	data, addr, err := r.Section("__rseq_cs")
	if err != nil || len(data) == 0 || r.WordSize() != 8 {
		return
	}
	relocated := map[uint64]uint64{}
	relocations{r.File}.each(func(reloc rawReloc, _ *elf.Section) {
		if reloc.kind == relativeRelocs[r.Machine] && reloc.slot-addr < uint64(len(data)) {
			relocated[reloc.slot] = reloc.addend
		}
	})
	word := func(at int) uint64 {
		if v, ok := relocated[addr+uint64(at)]; ok {
			return v
		}
		return r.Order.Uint64(data[at:])
	}
	for at := 0; at+sequenceSize <= len(data); at += sequenceSize {
		start, size, abort := word(at+8), r.Order.Uint64(data[at+16:]), word(at+24)
		if !r.IsText(start) || size > maxIndexed {
			continue
		}
		r.sequences = append(r.sequences, Range{start, start + size})
		set(r.pointed, abort)
	}
}
