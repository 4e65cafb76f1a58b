package unwind

import "encoding/binary"

// Memory is the memory of the process whose thread is unwound. arch.Memory implements it.
type Memory interface {
	// ReadMemory fills all of p from addr, or fails.
	ReadMemory(addr uint64, p []byte) error
}

// Overwritten is implemented by a Memory in which a part of the stack below the stack pointer is not what the program
// left there, because native code has used it. The program no longer needs what was there. A register that was saved
// there has its value again.
type Overwritten interface {
	Overwritten(addr uint64) bool
}

const (
	pageSize  = 4096 // at most the system's page size, so that a page is readable completely or not at all
	pageCount = 16
)

// pages reads a process's memory page by page: a system call takes microseconds for any size, and the frames of a stack
// are close together.
type pages struct {
	mem  Memory
	next int // the next page to replace
	page [pageCount]struct {
		addr  uint64 // of the first byte; 1 if the entry is empty
		bytes [pageSize]byte
	}
}

// start drops all cached pages and makes mem the memory to read.
func (p *pages) start(mem Memory) {
	p.mem = mem
	for i := range p.page {
		p.page[i].addr = 1
	}
}

// get returns the page at addr, which is a multiple of pageSize.
func (p *pages) get(addr uint64) (*[pageSize]byte, error) {
	for i := range p.page {
		if p.page[i].addr == addr {
			return &p.page[i].bytes, nil
		}
	}
	slot := &p.page[p.next]
	slot.addr = 1
	if err := p.mem.ReadMemory(addr, slot.bytes[:]); err != nil {
		return nil, err
	}
	slot.addr = addr
	p.next = (p.next + 1) % pageCount
	return &slot.bytes, nil
}

// load reads a little-endian word of 1 to 8 bytes.
func (p *pages) load(addr uint64, size int) (uint64, error) {
	off := addr % pageSize
	b, err := p.get(addr - off)
	if err != nil {
		return 0, err
	}
	if off+8 <= pageSize {
		return binary.LittleEndian.Uint64(b[off:]) << (64 - 8*size) >> (64 - 8*size), nil
	}
	return p.loadSlow(addr, size)
}

// loadSlow reads a word that may cross a page boundary.
func (p *pages) loadSlow(addr uint64, size int) (v uint64, err error) {
	for i := range uint64(size) {
		off := (addr + i) % pageSize
		b, err := p.get(addr + i - off)
		if err != nil {
			return 0, err
		}
		v |= uint64(b[off]) << (8 * i)
	}
	return v, nil
}
