package memory

import (
	"bytes"
	"encoding/binary"

	"gotap/arch"
)

// block is how many bytes of memory are requested at once. A packet of every stub can hold them.
const block = 256

// maxBlocks is the limit on the memory that is cached between two stops.
const maxBlocks = 4096

// Client is what a Memory needs of the connection to the stub.
type Client interface {
	ReadMemory(addr uint64, p []byte) (int, error)
	WriteMemory(addr uint64, p []byte) error
}

// Memory is the target's memory while the target is stopped. It is what the thread sees that the client has chosen.
type Memory struct {
	// WordSize is the size of a pointer in bytes: 4 or 8. It is set before Pointer is called.
	WordSize int
	// Signs is set if pointers are signed there, or may be.
	Signs bool

	client Client
	hide   func(addr uint64, read []byte)
	blocks map[uint64][]byte
	absent map[uint64]bool // blocks that cannot be read completely
}

// New returns the memory of a target that is stopped. hide restores, in what was read at an address, the bytes that
// breakpoints displace.
func New(client Client, hide func(addr uint64, read []byte)) *Memory {
	return &Memory{client: client, hide: hide, blocks: map[uint64][]byte{}, absent: map[uint64]bool{}}
}

// Forget is called when the target has run.
func (m *Memory) Forget() {
	clear(m.blocks)
	clear(m.absent)
}

// Read reads as much of p as possible and returns the number of bytes read.
func (m *Memory) Read(addr uint64, p []byte) int {
	n := 0
	for n < len(p) {
		at := addr + uint64(n)
		got := copy(p[n:], m.at(at))
		if got == 0 {
			break
		}
		n += got
	}
	m.hide(addr, p[:n])
	return n
}

// at returns what can be read from an address to the end of its block.
func (m *Memory) at(addr uint64) []byte {
	start := addr &^ (block - 1)
	if data := m.blocks[start]; data != nil {
		return data[addr-start:]
	}
	if !m.absent[start] {
		data := make([]byte, block)
		if n, _ := m.client.ReadMemory(start, data); n == block && len(m.blocks) < maxBlocks {
			m.blocks[start] = data
			return data[addr-start:]
		}
		m.absent[start] = true
	}
	// At the end of a mapping, or of a device's registers, the bytes before it can be read.
	one := make([]byte, 16-addr%16)
	n, _ := m.client.ReadMemory(addr, one)
	return one[:n]
}

// ReadMemory implements arch.Memory.
func (m *Memory) ReadMemory(addr uint64, p []byte) error {
	if n := m.Read(addr, p); n < len(p) {
		return &arch.FaultError{Addr: addr + uint64(n)}
	}
	return nil
}

// WriteMemory implements arch.Memory. A stub may have written the beginning of a range that it then refuses.
// Instructions write only a few words, in one or two pages; these are read first, so that a missing page makes the
// whole write fail.
func (m *Memory) WriteMemory(addr uint64, p []byte) error {
	old := make([]byte, len(p))
	if m.Read(addr, old) < len(p) {
		return &arch.FaultError{Addr: addr, Write: true}
	}
	if m.client.WriteMemory(addr, p) != nil {
		return &arch.FaultError{Addr: addr, Write: true}
	}
	for at := addr &^ (block - 1); at < addr+uint64(len(p)); at += block {
		delete(m.blocks, at)
	}
	return nil
}

// WriteCode writes instructions, also where they cannot be read.
func (m *Memory) WriteCode(addr uint64, code []byte) error {
	delete(m.blocks, addr&^(block-1))
	delete(m.blocks, (addr+uint64(len(code))-1)&^(block-1))
	return m.client.WriteMemory(addr, code)
}

// Code reads instructions; it returns fewer than n bytes where memory ends.
func (m *Memory) Code(addr uint64, n int) []byte {
	p := make([]byte, n)
	return p[:m.Read(addr, p)]
}

// SignsPointers implements arm64.PointerSigner.
func (m *Memory) SignsPointers() bool { return m.Signs }

// Pointer implements goabi.Pointers: it reads a word of the target.
func (m *Memory) Pointer(addr uint64) (uint64, bool) {
	var p [8]byte
	w := m.WordSize
	ok := m.Read(addr, p[:w]) == w
	return Word(p[:w]), ok
}

// maxText is the maximum length of a text that is read: that of a path.
const maxText = 4096

// Text reads a zero-terminated text; "" if it cannot be read, or is too long.
func (m *Memory) Text(addr uint64) string {
	var all []byte
	for len(all) < maxText {
		var p [64]byte
		n := m.Read(addr+uint64(len(all)), p[:])
		if i := bytes.IndexByte(p[:n], 0); i >= 0 {
			return string(append(all, p[:i]...))
		}
		if n < len(p) {
			break
		}
		all = append(all, p[:n]...)
	}
	return ""
}

// Word returns the number that up to eight bytes are, the lowest first.
func Word(p []byte) uint64 {
	var w [8]byte
	copy(w[:], p)
	return binary.LittleEndian.Uint64(w[:])
}
