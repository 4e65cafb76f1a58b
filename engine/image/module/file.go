package module

import (
	"cmp"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"gotap/engine/image/mapped"
	"gotap/engine/image/symtab"
	"gotap/engine/linux/populate"
)

// Identity identifies the file of a module. Probes belong to a file and an offset in it, so they apply to every process
// that maps the file.
type Identity struct {
	Dev, Inode uint64 // of the opened file; 0 for the vDSO
	BuildID    string // hexadecimal, empty when the file has none
	Path       string // for display; it may not open
}

// Segment is a loadable segment of a file (PT_LOAD).
type Segment struct {
	Offset, FileSize uint64 // in the file
	Vaddr, MemSize   uint64 // in memory, before the bias is added
	Flags            elf.ProgFlag
}

// Range is a half-open range of addresses of a file.
type Range struct{ Start, End uint64 }

// Contains reports whether an address lies in the range.
func (r Range) Contains(addr uint64) bool { return addr >= r.Start && addr < r.End }

// File is one ELF file, read lazily. Its symbols are those of the file, of its separate debug file and of
// .gnu_debugdata. It is safe for concurrent use.
type File struct {
	Identity
	*symtab.Table
	Machine  elf.Machine
	Bits     int  // 32 or 64
	PIE      bool // position-independent, as shared libraries are; otherwise the bias is 0
	Entry    uint64
	Order    binary.ByteOrder
	Segments []Segment // by address, as ELF requires
	Root     string    // root directory of the process that maps it; "" for that of the host

	openPath string // the path that was opened
	elf      *elf.File
	image    *symtab.Image
	src      io.ReaderAt
	closer   io.Closer
	text     []Range // executable sections, or executable segments where there are no sections
	plt      []Range

	debug    debugFile      // the separate one
	minimal  lazy[miniFile] // in .gnu_debugdata
	frames   lazy[[]Range]  // functions by .eh_frame, sorted by start
	marks    lazy[markList]
	copies   lazy[[]copied]
	pointers lazy[pointers]
	golang   goFacts
	windows  windowFacts
	codes    codeMap
}

// Open reads the headers of the ELF file at path.
func Open(path string) (*File, error) { return openIn("", path, path) }

// openIn opens a file that may have another display name, such as a deleted file opened through /proc/PID/map_files.
// Its separate debug files are also searched below root.
func openIn(root, displayPath, openPath string) (*File, error) {
	h, err := openRegular(openPath)
	if err != nil {
		return nil, fmt.Errorf("cannot open module %s: %w", displayPath, err)
	}
	f, err := fromHandle(displayPath, h)
	if err != nil {
		h.Close()
		return nil, err
	}
	f.openPath, f.Root = openPath, root
	return f, nil
}

// errIrregular reports a path that is not a regular file.
var errIrregular = errors.New("not a regular file")

// openRegular opens regular files only. A path that a process maps may be a device or a pipe: opening one may block
// forever, and reading one may have side effects. Stat avoids opening devices, O_NONBLOCK avoids waiting for what
// replaces the file in between.
func openRegular(path string) (*os.File, error) {
	if st, err := os.Stat(path); err != nil || !st.Mode().IsRegular() {
		return nil, cmp.Or(err, errIrregular)
	}
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

// fromHandle reads an open file, which the File closes.
func fromHandle(displayPath string, h *os.File) (*File, error) {
	st, err := h.Stat()
	if err == nil && !st.Mode().IsRegular() {
		err = errIrregular
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read module %s: %w", displayPath, err)
	}
	f, err := NewFile(displayPath, h)
	if err != nil {
		return nil, err
	}
	if sys, ok := st.Sys().(*syscall.Stat_t); ok {
		f.Dev, f.Inode = uint64(sys.Dev), sys.Ino
	}
	f.closer = h
	return f, nil
}

var errNotELF = errors.New("it is not an ELF file")

// isELF reports whether src begins as ELF files do, or cannot be read, which is another error.
func isELF(src io.ReaderAt) bool {
	magic := make([]byte, len(elf.ELFMAG))
	n, err := src.ReadAt(magic, 0)
	return n < len(magic) && !errors.Is(err, io.EOF) || string(magic) == elf.ELFMAG
}

// NewFile reads an ELF image from src, such as the vDSO in the memory of a process. src must remain valid and is called
// from any goroutine.
func NewFile(displayPath string, src io.ReaderAt) (*File, error) {
	if !isELF(src) {
		return nil, fmt.Errorf("cannot read module %s: %w", displayPath, errNotELF)
	}
	ef, err := elf.NewFile(src)
	if err != nil {
		return nil, fmt.Errorf("cannot read module %s: %w", displayPath, err)
	}
	f := &File{
		Identity: Identity{Path: displayPath},
		Machine:  ef.Machine, Bits: 32, PIE: ef.Type == elf.ET_DYN, Entry: ef.Entry, Order: ef.ByteOrder,
		openPath: displayPath, elf: ef, src: src,
	}
	if ef.Class == elf.ELFCLASS64 {
		f.Bits = 64
	}
	f.image = &symtab.Image{Machine: f.Machine, Bits: f.Bits, Order: f.Order, Sections: ef.Sections, Read: f.sectionData}
	f.Table = symtab.New(symbolOrigin{f})
	for _, p := range ef.Progs {
		if p.Type == elf.PT_LOAD {
			f.Segments = append(f.Segments, Segment{p.Off, p.Filesz, p.Vaddr, p.Memsz, p.Flags})
		}
	}
	f.BuildID = f.readBuildID()
	f.findText()
	return f, nil
}

// Close closes the file and its debug file. Names and numbers that were returned remain valid; everything else must not
// be used any more.
func (f *File) Close() error {
	f.debug.leave()
	var err error
	if d := f.debug.value; d != nil {
		err = d.Close()
	}
	if f.closer != nil {
		if e := f.closer.Close(); err == nil {
			err = e
		}
		f.closer = nil
	}
	return err
}

// OpenPath returns a path that opens the same file again, until Close. It uses the handle, because the original path
// may belong to a process (/proc/PID/map_files, /proc/PID/root) that ends, or another file may replace it.
func (f *File) OpenPath() string {
	if h, ok := f.closer.(*os.File); ok {
		return fmt.Sprintf("/proc/self/fd/%d", h.Fd())
	}
	return f.openPath
}

// ELF returns the parsed headers. Only one goroutine at a time may use its section readers.
func (f *File) ELF() *elf.File { return f.elf }

// WordSize returns the size of an address in bytes.
func (f *File) WordSize() int { return f.Bits / 8 }

// Text returns the executable sections, or the executable segments of a file without sections.
func (f *File) Text() []Range { return f.text }

// PLT returns the sections of procedure linkage stubs, which jump to other modules.
func (f *File) PLT() []Range { return f.plt }

// IsText reports whether an address is in executable code.
func (f *File) IsText(vaddr uint64) bool { return anyContains(f.text, vaddr) }

// InPLT reports whether an address is in a procedure linkage stub.
func (f *File) InPLT(vaddr uint64) bool { return anyContains(f.plt, vaddr) }

// anyContains searches linearly, because a file has few executable sections.
func anyContains(ranges []Range, addr uint64) bool {
	for _, r := range ranges {
		if r.Contains(addr) {
			return true
		}
	}
	return false
}

// findText finds executable sections and PLTs. Sections are more exact than the executable segment, in which older
// linkers put headers and read-only data. A breakpoint there would change data.
func (f *File) findText() {
	for _, s := range f.elf.Sections {
		if s.Flags&(elf.SHF_ALLOC|elf.SHF_EXECINSTR) != elf.SHF_ALLOC|elf.SHF_EXECINSTR || s.Size == 0 {
			continue
		}
		r := Range{s.Addr, s.Addr + s.Size}
		f.text = append(f.text, r)
		if len(s.Name) >= 4 && (s.Name[:4] == ".plt" || s.Name == ".iplt") {
			f.plt = append(f.plt, r)
		}
	}
	if len(f.elf.Sections) > 0 {
		return
	}
	// A file without sections, as sstrip makes, has only segments.
	for _, s := range f.Segments {
		if s.Flags&elf.PF_X != 0 {
			f.text = append(f.text, Range{s.Vaddr, s.Vaddr + s.FileSize})
		}
	}
}

// Offset returns the offset in the file of an address. ok is false for addresses without bytes in the file: outside all
// segments, or in zero-filled memory.
func (f *File) Offset(vaddr uint64) (offset uint64, ok bool) {
	for _, s := range f.Segments {
		if vaddr >= s.Vaddr && vaddr-s.Vaddr < s.FileSize {
			return vaddr - s.Vaddr + s.Offset, true
		}
	}
	return 0, false
}

// Vaddr returns the address, before the bias, that the byte at an offset is loaded at. Where segments share a page of
// the file, the executable one is preferred.
func (f *File) Vaddr(offset uint64) (vaddr uint64, ok bool) {
	for _, s := range f.Segments {
		if offset < s.Offset || offset-s.Offset >= s.FileSize {
			continue
		}
		vaddr, ok = offset-s.Offset+s.Vaddr, true
		if s.Flags&elf.PF_X != 0 {
			break
		}
	}
	return vaddr, ok
}

// Code returns n bytes of the file at an address, or fewer at the end of a segment. They are the bytes of the file, not
// those that a process may have changed.
func (f *File) Code(vaddr uint64, n int) ([]byte, error) {
	for _, s := range f.Segments {
		if vaddr < s.Vaddr || vaddr-s.Vaddr >= s.FileSize {
			continue
		}
		// A read ends with the segment, because segments that are adjacent in memory need not be adjacent in the file.
		in := vaddr - s.Vaddr
		p := make([]byte, min(uint64(max(n, 0)), s.FileSize-in))
		populate.Bytes(p)
		got, err := f.src.ReadAt(p, int64(s.Offset+in))
		if got < len(p) {
			return nil, fmt.Errorf("cannot read %s at 0x%x: %w", f.Path, vaddr, err)
		}
		return p, nil
	}
	return nil, fmt.Errorf("cannot read %s at 0x%x: no segment of the file covers the address", f.Path, vaddr)
}

// maxSection bounds the memory for one section, whatever damaged headers claim.
const maxSection = 1 << 30

// Section returns the decompressed contents of a section and its address. data is nil when the file does not have the
// section, or the section has no contents, like the code in a separate debug file.
func (f *File) Section(name string) (data []byte, addr uint64, err error) {
	s := f.elf.Section(name)
	if s == nil {
		return nil, 0, nil
	}
	data, err = f.sectionData(s)
	return data, s.Addr, err
}

// sectionData reads one section.
func (f *File) sectionData(s *elf.Section) ([]byte, error) {
	if s.Type == elf.SHT_NOBITS || s.Size == 0 {
		return nil, nil
	}
	if s.Size > maxSection || s.Flags&elf.SHF_COMPRESSED != 0 && !mapped.MayInflate(s.FileSize, s.Size) {
		return nil, fmt.Errorf("cannot read %s of %s: its size of %d bytes is too large", s.Name, f.Path, s.Size)
	}
	if data, ok := f.plainSection(s); ok {
		return data, nil
	}
	data, err := s.Data()
	if err != nil {
		return nil, fmt.Errorf("cannot read %s of %s: %w", s.Name, f.Path, err)
	}
	return data, nil
}

// plainSection reads a section that is not compressed. ok is false if it cannot: Data says why. Data reads in pieces
// that it joins, because a header may claim any size; here the file has to be long enough.
func (f *File) plainSection(s *elf.Section) (data []byte, ok bool) {
	if s.Flags&elf.SHF_COMPRESSED != 0 {
		return nil, false
	}
	if n, err := s.ReaderAt.ReadAt(make([]byte, 1), int64(s.Size-1)); n != 1 || err != nil && err != io.EOF {
		return nil, false
	}
	data = make([]byte, s.Size)
	populate.Bytes(data)
	n, err := s.ReaderAt.ReadAt(data, 0)
	return data, n == len(data) && (err == nil || err == io.EOF)
}
