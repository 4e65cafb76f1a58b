package module

import (
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
)

// note is one entry of a note section (System V ABI, "Note Section").
type note struct {
	name string
	kind uint32
	desc []byte
}

// noteBuildID is NT_GNU_BUILD_ID.
const noteBuildID = 3

// notes calls each for all notes in data until it returns false. A damaged entry ends the walk.
func notes(data []byte, order binary.ByteOrder, each func(note) bool) {
	for len(data) >= 12 {
		// Sums of 32-bit lengths cannot overflow 64 bits, so one comparison is enough.
		nameLen, descLen := uint64(order.Uint32(data)), uint64(order.Uint32(data[4:]))
		kind := order.Uint32(data[8:])
		data = data[12:]
		if align4(nameLen)+descLen > uint64(len(data)) {
			return
		}
		name := data[:nameLen]
		if nameLen > 0 && name[nameLen-1] == 0 {
			name = name[:nameLen-1]
		}
		data = data[align4(nameLen):]
		if !each(note{string(name), kind, data[:descLen]}) {
			return
		}
		data = data[min(align4(descLen), uint64(len(data))):]
	}
}

// align4 rounds up to the padding of notes, which is four bytes in 64-bit files, too.
func align4(n uint64) uint64 { return (n + 3) &^ 3 }

// readBuildID returns the build ID from note sections, or from note segments when there are no sections.
func (f *File) readBuildID() string {
	var id string
	// The first one counts: linkers put their own before those of merged files.
	take := func(n note) bool {
		if n.name == "GNU" && n.kind == noteBuildID {
			id = hex.EncodeToString(n.desc)
		}
		return id == ""
	}
	for _, s := range f.elf.Sections {
		if s.Type == elf.SHT_NOTE && s.Size < 1<<16 && id == "" {
			data, _ := f.sectionData(s)
			notes(data, f.Order, take)
		}
	}
	// Files without section headers have segments.
	for _, p := range f.elf.Progs {
		if p.Type == elf.PT_NOTE && p.Filesz < 1<<16 && id == "" {
			data := make([]byte, p.Filesz)
			n, _ := p.ReadAt(data, 0)
			notes(data[:n], f.Order, take)
		}
	}
	return id
}
