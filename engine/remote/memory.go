package remote

import (
	"gotap/arch"
)

// block is how many bytes of memory are asked for at once. A packet of every stub holds them.
const block = 256

// maxBlocks bounds the memory that is kept between two stops.
const maxBlocks = 4096

// memory is the target's memory while it is stopped: what has been read is kept until the target runs again. Breakpoints that we wrote do
// not show, nor can they be written over.
type memory struct {
	s      *Session
	thread *thread // whose memory it is: the one that stopped last
	first  int     // number of the first thread
	blocks map[uint64][]byte
	absent map[uint64]bool // blocks that cannot be read whole
}

// forget is called when the target has run.
func (m *memory) forget() {
	clear(m.blocks)
	clear(m.absent)
}

// read reads what it can of p and returns how many bytes that was.
func (m *memory) read(addr uint64, p []byte) int {
	n := 0
	for n < len(p) {
		at := addr + uint64(n)
		got := copy(p[n:], m.at(at))
		if got == 0 {
			break
		}
		n += got
	}
	m.mask(addr, p[:n])
	return n
}

// at is what can be read from an address to the end of its block.
func (m *memory) at(addr uint64) []byte {
	if m.blocks == nil {
		m.blocks, m.absent = map[uint64][]byte{}, map[uint64]bool{}
	}
	start := addr &^ (block - 1)
	if data := m.blocks[start]; data != nil {
		return data[addr-start:]
	}
	if !m.absent[start] {
		data := make([]byte, block)
		if n, _ := m.s.client.ReadMemory(start, data); n == block && len(m.blocks) < maxBlocks {
			m.blocks[start] = data
			return data[addr-start:]
		}
		m.absent[start] = true
	}
	// The end of a mapping, or of a device's registers: what lies before can be read.
	one := make([]byte, 16-addr%16)
	n, _ := m.s.client.ReadMemory(addr, one)
	return one[:n]
}

// mask puts back what our own breakpoints displace.
func (m *memory) mask(addr uint64, p []byte) {
	if !m.s.patch {
		return
	}
	if len(m.s.points) < len(p) {
		for _, pt := range m.s.points {
			pt.maskIn(addr, p)
		}
		return
	}
	for at := addr - (longestTrap - 1); at != addr+uint64(len(p)); at++ {
		if pt := m.s.points[at]; pt != nil {
			pt.maskIn(addr, p)
		}
	}
}

// longestTrap is the length of the longest breakpoint.
const longestTrap = 4

// maskIn puts back what one breakpoint of ours displaces, in what was read at addr, as far as it lies there.
func (p *point) maskIn(addr uint64, read []byte) {
	if !p.planted {
		return
	}
	for i, b := range p.orig {
		if at := p.addr + uint64(i) - addr; at < uint64(len(read)) {
			read[at] = b
		}
	}
}

// ReadMemory implements arch.Memory.
func (m *memory) ReadMemory(addr uint64, p []byte) error {
	if n := m.read(addr, p); n < len(p) {
		return &arch.FaultError{Addr: addr + uint64(n)}
	}
	return nil
}

// WriteMemory implements arch.Memory. A stub may have written the beginning of what it then refuses; what instructions write is a few
// words, in one page or two, and is read first so that a page that is not there refuses all of it.
func (m *memory) WriteMemory(addr uint64, p []byte) error {
	old := make([]byte, len(p))
	if m.read(addr, old) < len(p) {
		return &arch.FaultError{Addr: addr, Write: true}
	}
	if m.s.client.WriteMemory(addr, p) != nil {
		return &arch.FaultError{Addr: addr, Write: true}
	}
	for at := addr &^ (block - 1); at < addr+uint64(len(p)); at += block {
		delete(m.blocks, at)
	}
	return nil
}

// code reads instructions; fewer bytes than n where memory ends.
func (m *memory) code(addr uint64, n int) []byte {
	p := make([]byte, n)
	return p[:m.read(addr, p)]
}
