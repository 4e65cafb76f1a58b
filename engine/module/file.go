package module

import (
	"cmp"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"

	"gotap/engine/debuginfo/image"
)

// Identity says which file a module is, whatever its name: probes belong to a file and an offset in it, so that they land in
// every process that maps the file.
type Identity struct {
	Dev, Inode uint64 // of the file that was opened; 0 when it was not a file (the vDSO)
	BuildID    string // hexadecimal, empty when the file has none
	Path       string // as people know it; not always a path that opens
}

// Segment is one loadable part of a file (PT_LOAD).
type Segment struct {
	Offset, FileSize uint64 // in the file
	Vaddr, MemSize   uint64 // in memory, before the bias is added
	Flags            elf.ProgFlag
}

// Range is a half-open range of addresses of a file.
type Range struct{ Start, End uint64 }

// Contains reports whether an address lies in the range.
func (r Range) Contains(addr uint64) bool { return addr >= r.Start && addr < r.End }

// File is one ELF file, read lazily. It is safe for concurrent use.
type File struct {
	Identity
	Machine  elf.Machine
	Bits     int  // 32 or 64
	PIE      bool // loaded anywhere (shared libraries too); otherwise the bias is 0
	Entry    uint64
	Order    binary.ByteOrder
	Segments []Segment // by address, as ELF demands

	openPath string // what opened the file
	root     string // root directory of the process it came from, "" for the host's
	elf      *elf.File
	src      io.ReaderAt
	closer   io.Closer
	text     []Range // executable sections, or executable segments where there are no sections
	plt      []Range

	debugOnce sync.Once
	debug     *File

	symOnce sync.Once
	syms    *symbols

	frameOnce sync.Once
	frames    []Range // functions by .eh_frame, sorted by start

	markOnce sync.Once
	marks    []Mark
	markErr  error

	copyOnce sync.Once
	copies   []copied

	pointers pointers

	codes   codeMap
	names   demangled
	goFuncs goFuncs
}

// Open reads the headers of the ELF file at path.
func Open(path string) (*File, error) { return openIn("", path, path) }

// openIn opens a file that may be known by another name than the one it opens by, such as a deleted file that is still reached through
// /proc/PID/map_files. root is the directory below which its separate debug files are looked for as well.
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
	f.openPath, f.root = openPath, root
	return f, nil
}

// errIrregular is a path that leads to something else than a file.
var errIrregular = errors.New("not a regular file")

// openRegular opens a file and nothing else. What a process maps, and what lies where its debug files should, may be a device or a pipe
// just as well: opening those can wait for ever, and reading them can have effects. The look beforehand spares devices; not
// to wait is for what takes the file's place after it.
func openRegular(path string) (*os.File, error) {
	if st, err := os.Stat(path); err != nil || !st.Mode().IsRegular() {
		return nil, cmp.Or(err, errIrregular)
	}
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

// fromHandle takes over an open file.
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

// NewFile reads an ELF image from anywhere, such as the vDSO from a process's memory. The reader has to stay valid; it is
// called from any goroutine.
func NewFile(displayPath string, src io.ReaderAt) (*File, error) {
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
	for _, p := range ef.Progs {
		if p.Type == elf.PT_LOAD {
			f.Segments = append(f.Segments, Segment{p.Off, p.Filesz, p.Vaddr, p.Memsz, p.Flags})
		}
	}
	f.BuildID = f.readBuildID()
	f.findText()
	return f, nil
}

// Close gives back the file and its debug file. Nothing of it may be used afterwards but what was returned as text or numbers.
func (f *File) Close() error {
	f.debugOnce.Do(func() {}) // a debug file that was never asked for is not looked for now
	var err error
	if f.debug != nil {
		err = f.debug.Close()
	}
	if f.closer != nil {
		if e := f.closer.Close(); err == nil {
			err = e
		}
		f.closer = nil
	}
	return err
}

// OpenPath is a path by which the very file can be opened again: by its handle, because the name it was found by may be one of a process
// (/proc/PID/map_files, /proc/PID/root), which ends, or whose place another program takes. It is good until Close.
func (f *File) OpenPath() string {
	if h, ok := f.closer.(*os.File); ok {
		return fmt.Sprintf("/proc/self/fd/%d", h.Fd())
	}
	return f.openPath
}

// ELF is the parsed headers. Its section readers may be used from one goroutine at a time only.
func (f *File) ELF() *elf.File { return f.elf }

// WordSize is the size of an address in bytes.
func (f *File) WordSize() int { return f.Bits / 8 }

// Text lists the executable sections; the segments of a file without section headers.
func (f *File) Text() []Range { return f.text }

// PLT lists the sections of procedure linkage stubs: jumps to other modules, no functions of this one.
func (f *File) PLT() []Range { return f.plt }

// IsText reports whether an address can hold code.
func (f *File) IsText(vaddr uint64) bool { return anyContains(f.text, vaddr) }

// InPLT reports whether an address is in a procedure linkage stub.
func (f *File) InPLT(vaddr uint64) bool { return anyContains(f.plt, vaddr) }

// anyContains is linear: a file has a handful of executable sections.
func anyContains(ranges []Range, addr uint64) bool {
	for _, r := range ranges {
		if r.Contains(addr) {
			return true
		}
	}
	return false
}

// findText lists executable sections and PLTs. Sections are better than the executable segment, which older linkers
// let hold headers and read-only data as well: a breakpoint there would change data.
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
	// Without sections, as after sstrip, the segments are all there is.
	for _, s := range f.Segments {
		if s.Flags&elf.PF_X != 0 {
			f.text = append(f.text, Range{s.Vaddr, s.Vaddr + s.FileSize})
		}
	}
}

// Offset translates an address of the file to an offset in it. ok is false for addresses that have no
// bytes in the file: outside all segments, or in zero-filled memory.
func (f *File) Offset(vaddr uint64) (offset uint64, ok bool) {
	for _, s := range f.Segments {
		if vaddr >= s.Vaddr && vaddr-s.Vaddr < s.FileSize {
			return vaddr - s.Vaddr + s.Offset, true
		}
	}
	return 0, false
}

// Vaddr translates an offset in the file to the address that its byte is loaded at, before the bias.
// Executable segments are preferred where segments share a page of the file.
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

// Code returns n bytes of the file at an address, fewer at the end of a segment. They are the original bytes,
// whatever a process has made of them.
func (f *File) Code(vaddr uint64, n int) ([]byte, error) {
	for _, s := range f.Segments {
		if vaddr < s.Vaddr || vaddr-s.Vaddr >= s.FileSize {
			continue
		}
		// A read never goes on from one segment into the next: what follows in memory need not follow in the file.
		in := vaddr - s.Vaddr
		p := make([]byte, min(uint64(max(n, 0)), s.FileSize-in))
		got, err := f.src.ReadAt(p, int64(s.Offset+in))
		if got < len(p) {
			return nil, fmt.Errorf("cannot read %s at 0x%x: %w", f.Path, vaddr, err)
		}
		return p, nil
	}
	return nil, fmt.Errorf("cannot read %s at 0x%x: the file has nothing there", f.Path, vaddr)
}

// maxSection bounds what one section may take in memory: damaged headers must not exhaust it.
const maxSection = 1 << 30

// Section returns the contents of a section, decompressed, and its address; nil for a section that the file does not have
// or that has no contents, as the code in a separate debug file.
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
	if s.Size > maxSection || s.Flags&elf.SHF_COMPRESSED != 0 && !image.MayInflate(s.FileSize, s.Size) {
		return nil, fmt.Errorf("cannot read %s of %s: %d bytes are too many", s.Name, f.Path, s.Size)
	}
	data, err := s.Data()
	if err != nil {
		return nil, fmt.Errorf("cannot read %s of %s: %w", s.Name, f.Path, err)
	}
	return data, nil
}
