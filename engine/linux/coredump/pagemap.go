package coredump

import (
	"encoding/binary"
	"fmt"
	"os"
)

// pagemap reads which pages of a process exist (the kernel's admin-guide/mm/pagemap.rst). The file has one word for
// each page of the address space.
type pagemap struct {
	f   *os.File
	buf []byte
}

// Bits of a page's word.
const (
	pagePresent = 1 << 63
	pageSwapped = 1 << 62
)

// openPagemap opens the page map of a process. Without permission all pages count as existing.
func openPagemap(pid int) *pagemap {
	f, err := os.Open(fmt.Sprintf("/proc/%d/pagemap", pid))
	if err != nil {
		return &pagemap{}
	}
	return &pagemap{f: f, buf: make([]byte, chunk/pageSize*8)}
}

// untouched reports whether the process has never accessed a range of whole pages, of at most chunk bytes. It returns
// false if that is unknown.
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
