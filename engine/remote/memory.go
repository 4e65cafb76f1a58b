package remote

import (
	"gotap/arch"
)

// block is how many bytes of memory are requested at once. A packet of every stub can hold them.
const block = 256

// maxBlocks is the limit on the memory that is cached between two stops.
const maxBlocks = 4096

// memory is the target's memory while the target is stopped: what has been read is cached until the target runs
// again. Breakpoints that we wrote are hidden and cannot be overwritten.
type memory struct {
	s      *Session
	thread *thread // the thread whose memory it is: the one that stopped last
	first  int     // the number of the first thread
	blocks map[uint64][]byte
	absent map[uint64]bool // blocks that cannot be read completely
}

// forget is called when the target has run.
func (m *memory) forget() {
	clear(m.blocks)
	clear(m.absent)
}

// read reads as much of p as possible and returns the number of bytes read.
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

// at returns what can be read from an address to the end of its block.
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
	// At the end of a mapping, or of a device's registers, the bytes before it can be read.
	one := make([]byte, 16-addr%16)
	n, _ := m.s.client.ReadMemory(addr, one)
	return one[:n]
}

// mask restores the bytes that our own breakpoints displace.
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

// maskIn restores, in what was read at addr, the bytes that one of our breakpoints displaces, as far as they lie
// there.
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

// WriteMemory implements arch.Memory. A stub may have written the beginning of a range that it then refuses.
// Instructions write only a few words, in one or two pages; these are read first, so that a missing page makes the
// whole write fail.
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

// code reads instructions; it returns fewer than n bytes where memory ends.
func (m *memory) code(addr uint64, n int) []byte {
	p := make([]byte, n)
	return p[:m.read(addr, p)]
}
