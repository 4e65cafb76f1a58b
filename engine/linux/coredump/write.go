package coredump

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"io"
)

const (
	pageSize = 4096
	// chunk is how much memory is read at once.
	chunk = 1 << 20
	// maxSegments is the maximum that the header's 16 bits can count. By default the kernel allows fewer mappings.
	maxSegments = 0xfffe
)

// File is the file that a core is written to; *os.File implements it. Bytes that are never written read as zero.
type File interface {
	io.WriterAt
	Truncate(size int64) error
}

// Write writes the core of a process. It returns the number of bytes written; the file is larger because of its holes.
func Write(f File, p *Process) (written int64, err error) {
	if len(p.Threads) == 0 {
		return 0, fmt.Errorf("cannot write a core of process %d: no thread of it is stopped", p.Pid)
	}
	if len(p.Mappings) >= maxSegments {
		return 0, fmt.Errorf("cannot write a core of process %d: it has %d mappings", p.Pid, len(p.Mappings))
	}
	head, segments, size := p.layout()
	if _, err := f.WriteAt(head, 0); err != nil {
		return 0, err
	}
	w := writer{f: f, p: p, pages: openPagemap(p.Pid), buf: make([]byte, chunk), written: int64(len(head))}
	defer w.pages.close()
	for i := range segments {
		if err := w.segment(&segments[i]); err != nil {
			return 0, err
		}
	}
	return w.written, f.Truncate(size)
}

// segment is a mapping with its place in the file.
type segment struct {
	*Mapping
	at   uint64 // offset in the file
	size uint64 // bytes there
}

// layout returns everything before the contents, and the places of the contents.
func (p *Process) layout() (head []byte, segments []segment, size int64) {
	ehSize, phSize := uint64(64), uint64(56)
	if p.Word == 4 {
		ehSize, phSize = 52, 32
	}
	notes := p.notes()
	notesAt := ehSize + phSize*uint64(len(p.Mappings)+1)
	at := roundUp(notesAt + uint64(len(notes)))
	for i := range p.Mappings {
		s := segment{Mapping: &p.Mappings[i], at: at}
		if s.Dump {
			s.size = s.End - s.Start
		}
		segments = append(segments, s)
		at += s.size
	}
	var b bytes.Buffer
	p.header(&b, ehSize, phSize)
	p.program(&b, elf.ProgHeader{Type: elf.PT_NOTE, Off: notesAt, Filesz: uint64(len(notes)), Align: 4})
	for _, s := range segments {
		p.program(&b, elf.ProgHeader{Type: elf.PT_LOAD, Flags: s.flags(), Off: s.at, Vaddr: s.Start,
			Filesz: s.size, Memsz: s.End - s.Start, Align: pageSize})
	}
	b.Write(notes)
	return b.Bytes(), segments, int64(at)
}

func roundUp(n uint64) uint64 { return (n + pageSize - 1) &^ (pageSize - 1) }

func (s *segment) flags() (f elf.ProgFlag) {
	if s.Mapping.Read {
		f |= elf.PF_R
	}
	if s.Write {
		f |= elf.PF_W
	}
	if s.Exec {
		f |= elf.PF_X
	}
	return f
}

// header writes the ELF header.
func (p *Process) header(b *bytes.Buffer, ehSize, phSize uint64) {
	ident := [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)}
	segments := uint16(len(p.Mappings) + 1)
	if p.Word == 4 {
		ident[elf.EI_CLASS] = byte(elf.ELFCLASS32)
		binary.Write(b, binary.LittleEndian, elf.Header32{Ident: ident, Type: uint16(elf.ET_CORE), Machine: uint16(p.machine()),
			Version: 1, Phoff: uint32(ehSize), Ehsize: uint16(ehSize), Phentsize: uint16(phSize), Phnum: segments})
		return
	}
	binary.Write(b, binary.LittleEndian, elf.Header64{Ident: ident, Type: uint16(elf.ET_CORE), Machine: uint16(p.machine()),
		Version: 1, Phoff: ehSize, Ehsize: uint16(ehSize), Phentsize: uint16(phSize), Phnum: segments})
}

// program writes one program header.
func (p *Process) program(b *bytes.Buffer, h elf.ProgHeader) {
	if p.Word == 4 {
		binary.Write(b, binary.LittleEndian, elf.Prog32{Type: uint32(h.Type), Off: uint32(h.Off), Vaddr: uint32(h.Vaddr),
			Filesz: uint32(h.Filesz), Memsz: uint32(h.Memsz), Flags: uint32(h.Flags), Align: uint32(h.Align)})
		return
	}
	binary.Write(b, binary.LittleEndian, elf.Prog64{Type: uint32(h.Type), Flags: uint32(h.Flags), Off: h.Off, Vaddr: h.Vaddr,
		Filesz: h.Filesz, Memsz: h.Memsz, Align: h.Align})
}

// writer copies the contents of mappings.
type writer struct {
	f       File
	p       *Process
	pages   *pagemap
	buf     []byte
	written int64
}

// segment copies one mapping.
func (w *writer) segment(s *segment) error {
	if s.size == 0 {
		return nil
	}
	anonymous := !s.File() && !s.Shared
	for addr := s.Start; addr < s.End; addr += chunk {
		n := min(chunk, s.End-addr)
		if anonymous && w.pages.untouched(addr, n) {
			continue
		}
		if err := w.copy(addr, w.buf[:n], int64(s.at+addr-s.Start)); err != nil {
			return err
		}
	}
	return nil
}

// copy copies a piece of memory to an offset of the file. Pages of zeros, and pages that cannot be read, such as those
// of a file that was truncated, stay holes.
func (w *writer) copy(addr uint64, buf []byte, at int64) error {
	for done := 0; done < len(buf); {
		n := w.p.Read(addr+uint64(done), buf[done:])
		clear(buf[done+n:])
		done = int(roundUp(uint64(done + n + 1)))
	}
	for from := 0; from < len(buf); {
		if isZero(buf[from:min(from+pageSize, len(buf))]) {
			from += pageSize
			continue
		}
		end := from + pageSize
		for end < len(buf) && !isZero(buf[end:min(end+pageSize, len(buf))]) {
			end += pageSize
		}
		end = min(end, len(buf))
		if _, err := w.f.WriteAt(buf[from:end], at+int64(from)); err != nil {
			return err
		}
		w.written += int64(end - from)
		from = end
	}
	return nil
}

var zeros [pageSize]byte

func isZero(p []byte) bool { return bytes.Equal(p, zeros[:len(p)]) }
