package mapped

import (
	"bytes"
	"compress/zlib"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"

	"gotap/engine/image/sectioncache"
	"gotap/engine/linux/populate"
)

// Limits on the size of a file's decompressed sections. Debug information becomes two to six times as large; a
// file that becomes a thousand times as large is malicious.
const (
	inflatedBase   = 64 << 20 // for any file
	inflatedFactor = 32       // more for each byte of the file
)

// MayInflate reports whether a compressed section may have the given size when it is decompressed.
func MayInflate(packed, size uint64) bool { return size <= MostInflated(packed) }

// MostInflated returns how many bytes a compressed section of so many bytes may become.
func MostInflated(packed uint64) uint64 { return inflatedBase + inflatedFactor*packed }

// Image is one ELF file in memory.
type Image struct {
	name  string
	data  []byte
	file  *elf.File
	unmap bool
	cache *sectioncache.Cache

	mu       sync.Mutex // guards what follows
	unpacked map[string]*unpacked
	inflated uint64 // bytes of all of them
}

// unpacked is a decompressed section, which the first use decompresses.
type unpacked struct {
	once    sync.Once
	section sectioncache.Section
	err     error
}

// Open maps the ELF file at path.
func Open(path string) (*Image, error) { return OpenAs(path, path) }

// OpenAs maps the ELF file at path. Messages use another name for it.
func OpenAs(name, path string) (*Image, error) {
	// The path may come from a traced program. Stat avoids opening devices, which may do something, and O_NONBLOCK
	// avoids waiting for the writer of a pipe.
	st, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("cannot open %s: %w", name, err)
	}
	if !st.Mode().IsRegular() {
		return nil, fmt.Errorf("cannot open %s: not an ELF file", name)
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("cannot open %s: %w", name, err)
	}
	defer f.Close()
	if st, err = f.Stat(); err != nil {
		return nil, fmt.Errorf("cannot open %s: %w", name, err)
	}
	if !st.Mode().IsRegular() || st.Size() == 0 || int64(int(st.Size())) != st.Size() {
		return nil, fmt.Errorf("cannot open %s: not an ELF file", name)
	}
	data, err := syscall.Mmap(int(f.Fd()), 0, int(st.Size()), syscall.PROT_READ, syscall.MAP_PRIVATE)
	if err != nil {
		return nil, fmt.Errorf("cannot map %s: %w", name, err)
	}
	m, err := New(name, data)
	if err != nil {
		syscall.Munmap(data)
		return nil, err
	}
	m.unmap = true
	return m, nil
}

// New returns an image of bytes in memory, such as those of the vDSO. name is for messages.
func New(name string, data []byte) (*Image, error) {
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", name, err)
	}
	return &Image{name: name, data: data, file: f, cache: sectioncache.Default(), unpacked: map[string]*unpacked{}}, nil
}

// Close unmaps the file. Sections returned before must not be used any more.
func (m *Image) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, u := range m.unpacked {
		u.section.Unmap()
	}
	clear(m.unpacked)
	if !m.unmap {
		return nil
	}
	m.unmap = false
	return syscall.Munmap(m.data)
}

// Name returns the name in messages.
func (m *Image) Name() string { return m.name }

// Machine returns the architecture of the file.
func (m *Image) Machine() elf.Machine { return m.file.Machine }

// ELF returns the parsed headers. Only one goroutine at a time may use its readers.
func (m *Image) ELF() *elf.File { return m.file }

// Section returns the decompressed contents of a section and its address. data is nil when the file does not have the
// section, or the section has no contents, like the code in a separate debug file. ".debug_x" also finds the old
// ".zdebug_x".
func (m *Image) Section(name string) (data []byte, addr uint64, err error) {
	s := m.file.Section(name)
	if s == nil {
		return m.oldSection(name)
	}
	data, err = m.decompressed(name, s)
	return data, s.Addr, err
}

// Sections returns the contents of all sections of a name, as Section returns those of the first.
func (m *Image) Sections(name string) (all [][]byte, err error) {
	for _, s := range m.file.Sections {
		if s.Name != name || s.Type == elf.SHT_NOBITS {
			continue
		}
		key := name
		if s != m.file.Section(name) {
			key = fmt.Sprintf("%s at %#x", name, s.Offset)
		}
		data, err := m.decompressed(key, s)
		if err != nil {
			return nil, err
		}
		all = append(all, data)
	}
	return all, nil
}

// decompressed returns the contents of a section. key is its key in m.unpacked if it is compressed.
func (m *Image) decompressed(key string, s *elf.Section) ([]byte, error) {
	if s.Type == elf.SHT_NOBITS || s.FileSize == 0 {
		return nil, nil
	}
	raw, err := m.contents(s)
	if err != nil || s.Flags&elf.SHF_COMPRESSED == 0 {
		return raw, err
	}
	return m.unpack(key, raw, s.Size, s.Data)
}

// contents returns what the file has for a section, compressed or not.
func (m *Image) contents(s *elf.Section) ([]byte, error) {
	if s.Offset > uint64(len(m.data)) || s.FileSize > uint64(len(m.data))-s.Offset {
		return nil, fmt.Errorf("cannot read %s of %s: it is outside the file", s.Name, m.name)
	}
	return m.data[s.Offset : s.Offset+s.FileSize : s.Offset+s.FileSize], nil
}

// oldSection returns a section compressed in the format of binutils before 2.26: "ZLIB", the size, a zlib stream.
func (m *Image) oldSection(name string) ([]byte, uint64, error) {
	if len(name) < 2 || name[0] != '.' {
		return nil, 0, nil
	}
	s := m.file.Section(".z" + name[1:])
	if s == nil || s.Type == elf.SHT_NOBITS {
		return nil, 0, nil
	}
	raw, err := m.contents(s)
	if err != nil {
		return nil, s.Addr, err
	}
	if len(raw) < 12 || string(raw[:4]) != "ZLIB" {
		return raw, s.Addr, nil
	}
	size := binary.BigEndian.Uint64(raw[4:])
	data, err := m.unpack(name, raw, size, func() ([]byte, error) { return inflate(raw[12:], size) })
	return data, s.Addr, err
}

// inflate decompresses a zlib stream to size bytes.
func inflate(packed []byte, size uint64) ([]byte, error) {
	if size/2048 > uint64(len(packed)) { // zlib cannot compress so well
		return nil, fmt.Errorf("the size of the section, %d bytes, is impossible", size)
	}
	z, err := zlib.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	data := make([]byte, size)
	populate.Bytes(data)
	_, err = io.ReadFull(z, data)
	return data, err
}

// unpack decompresses a section once, if its size is within the limits, or takes it from the cache. Several sections
// may be decompressed at a time.
func (m *Image) unpack(name string, packed []byte, size uint64, read func() ([]byte, error)) ([]byte, error) {
	u, err := m.reserve(name, size)
	if err != nil {
		return nil, err
	}
	u.once.Do(func() {
		u.err = errInterrupted // of later calls, if this one panics because the file has been truncated
		u.section, u.err = m.cache.Get(packed, size, read)
	})
	if u.err != nil {
		return nil, fmt.Errorf("cannot decompress %s of %s: %w", name, m.name, u.err)
	}
	return u.section.Data, nil
}

// errInterrupted reports that the first attempt to decompress a section did not end.
var errInterrupted = errors.New("the file has changed")

// reserve returns the place of a decompressed section, if its size is within the limits.
func (m *Image) reserve(name string, size uint64) (*unpacked, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if u := m.unpacked[name]; u != nil {
		return u, nil
	}
	if size > 1<<62 || !MayInflate(uint64(len(m.data)), m.inflated+size) {
		return nil, fmt.Errorf("cannot decompress %s of %s: its decompressed sections would have %d MB, too much for a file of %d KB",
			name, m.name, (m.inflated+size)>>20, len(m.data)>>10)
	}
	u := &unpacked{}
	m.unpacked[name] = u
	m.inflated += size
	return u, nil
}
