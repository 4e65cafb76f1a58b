package image

import (
	"bytes"
	"compress/zlib"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
)

// maxSection bounds a decompressed section: a damaged size must not exhaust memory.
const maxSection = 8 << 30

// Image is one ELF file in memory.
type Image struct {
	name  string
	data  []byte
	file  *elf.File
	unmap bool

	mu       sync.Mutex // guards unpacked
	unpacked map[string][]byte
}

// Open maps the ELF file at path.
func Open(path string) (*Image, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cannot open %s: %w", path, err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("cannot open %s: %w", path, err)
	}
	if !st.Mode().IsRegular() || st.Size() == 0 || int64(int(st.Size())) != st.Size() {
		return nil, fmt.Errorf("cannot open %s: not an ELF file", path)
	}
	data, err := syscall.Mmap(int(f.Fd()), 0, int(st.Size()), syscall.PROT_READ, syscall.MAP_PRIVATE)
	if err != nil {
		return nil, fmt.Errorf("cannot map %s: %w", path, err)
	}
	m, err := New(path, data)
	if err != nil {
		syscall.Munmap(data)
		return nil, err
	}
	m.unmap = true
	return m, nil
}

// New makes an image of bytes already in memory, such as those of the vDSO. name is for messages.
func New(name string, data []byte) (*Image, error) {
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", name, err)
	}
	return &Image{name: name, data: data, file: f, unpacked: map[string][]byte{}}, nil
}

// Close unmaps the file. Sections handed out before must not be used any more.
func (m *Image) Close() error {
	if !m.unmap {
		return nil
	}
	m.unmap = false
	return syscall.Munmap(m.data)
}

// Name is the path that the image was opened by.
func (m *Image) Name() string { return m.name }

// Machine is the architecture of the file.
func (m *Image) Machine() elf.Machine { return m.file.Machine }

// ELF is the parsed headers. Its readers may be used from one goroutine at a time.
func (m *Image) ELF() *elf.File { return m.file }

// Section returns the contents of a section, decompressed, and its address in the file; nil data when the file has
// no such section or none of its contents, as separate debug files have none of the code. ".debug_x" also finds the old
// ".zdebug_x".
func (m *Image) Section(name string) (data []byte, addr uint64, err error) {
	s := m.file.Section(name)
	if s == nil {
		return m.oldSection(name)
	}
	if s.Type == elf.SHT_NOBITS || s.FileSize == 0 {
		return nil, s.Addr, nil
	}
	if s.Flags&elf.SHF_COMPRESSED != 0 {
		data, err = m.unpack(name, s.Data)
		return data, s.Addr, err
	}
	if s.Offset > uint64(len(m.data)) || s.FileSize > uint64(len(m.data))-s.Offset {
		return nil, s.Addr, fmt.Errorf("cannot read %s of %s: it lies outside the file", name, m.name)
	}
	return m.data[s.Offset : s.Offset+s.FileSize : s.Offset+s.FileSize], s.Addr, nil
}

// oldSection finds a section compressed the way of binutils before 2.26: "ZLIB", the size, a zlib stream.
func (m *Image) oldSection(name string) ([]byte, uint64, error) {
	if len(name) < 2 || name[0] != '.' {
		return nil, 0, nil
	}
	s := m.file.Section(".z" + name[1:])
	if s == nil || s.Type == elf.SHT_NOBITS {
		return nil, 0, nil
	}
	data, err := m.unpack(name, func() ([]byte, error) {
		raw, err := s.Data()
		if err != nil || len(raw) < 12 || string(raw[:4]) != "ZLIB" {
			return raw, err
		}
		return inflate(raw[12:], binary.BigEndian.Uint64(raw[4:]))
	})
	return data, s.Addr, err
}

// inflate decompresses a zlib stream that should give size bytes.
func inflate(packed []byte, size uint64) ([]byte, error) {
	if size > maxSection || size/2048 > uint64(len(packed)) {
		return nil, fmt.Errorf("the size of the section, %d bytes, cannot be right", size)
	}
	z, err := zlib.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	data := make([]byte, size)
	_, err = io.ReadFull(z, data)
	return data, err
}

// unpack decompresses a section once.
func (m *Image) unpack(name string, read func() ([]byte, error)) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if data, ok := m.unpacked[name]; ok {
		return data, nil
	}
	data, err := read()
	if err != nil {
		return nil, fmt.Errorf("cannot decompress %s of %s: %w", name, m.name, err)
	}
	m.unpacked[name] = data
	return data, nil
}
