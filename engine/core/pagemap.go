package core

import (
	"encoding/binary"
	"fmt"
	"os"
)

// pagemap tells which pages of a process there are (the kernel's admin-guide/mm/pagemap.rst): a word for each page of the
// address space.
type pagemap struct {
	f   *os.File
	buf []byte
}

// Bits of a page's word.
const (
	pagePresent = 1 << 63
	pageSwapped = 1 << 62
)

// openPagemap opens the map of a process. Without permission nothing is known of any page.
func openPagemap(pid int) *pagemap {
	f, err := os.Open(fmt.Sprintf("/proc/%d/pagemap", pid))
	if err != nil {
		return &pagemap{}
	}
	return &pagemap{f: f, buf: make([]byte, chunk/pageSize*8)}
}

// untouched reports whether a range of whole pages, at most chunk bytes, has never been written or read by its process. Where
// that cannot be told the answer is no.
func (m *pagemap) untouched(addr, size uint64) bool {
	if m.f == nil {
		return false
	}
	words := m.buf[:size/pageSize*8]
	if n, _ := m.f.ReadAt(words, int64(addr/pageSize*8)); n != len(words) {
		return false
	}
	for ; len(words) > 0; words = words[8:] {
		if binary.LittleEndian.Uint64(words)&(pagePresent|pageSwapped) != 0 {
			return false
		}
	}
	return true
}

func (m *pagemap) close() {
	if m.f != nil {
		m.f.Close()
	}
}
