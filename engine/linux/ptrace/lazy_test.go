package ptrace

import (
	"os"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// TestReady asks for pages of this process: one that was written, one that never was, and both together.
func TestReady(t *testing.T) {
	f, err := os.Open("/proc/self/pagemap")
	if err != nil {
		t.Fatal(err)
	}
	l := &lazy{pid: os.Getpid(), pagemap: f}
	defer l.close()
	area, err := unix.Mmap(-1, 0, 2*pageSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(area)
	unix.Madvise(area, unix.MADV_NOHUGEPAGE)
	area[0] = 1
	at := uint64(uintptr(unsafe.Pointer(&area[0])))
	for _, c := range []struct {
		addr uint64
		n    int
		want bool
	}{{at, 8, true}, {at + pageSize - 8, 8, true}, {at + pageSize - 4, 8, false}, {at + pageSize, 1, false}} {
		if got := l.ready(c.addr, c.n, 0, true); got != c.want {
			t.Errorf("%d bytes at %#x, of memory at %#x: %v", c.n, c.addr, at, got)
		}
	}
	if l.waits(at + pageSize) {
		t.Error("ordinary memory is taken for memory that others fill in")
	}
}

// TestReadsPageThatIsNotThere reads memory that was never touched, in a process that is looked at for such pages.
func TestReadsPageThatIsNotThere(t *testing.T) {
	m, err := OpenMemory(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	m.lazy = &lazy{pid: os.Getpid()}
	if m.lazy.pagemap, err = os.Open("/proc/self/pagemap"); err != nil {
		t.Fatal(err)
	}
	area, err := unix.Mmap(-1, 0, 4*pageSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(area)
	unix.Madvise(area, unix.MADV_NOHUGEPAGE)
	p, at := make([]byte, 2*pageSize), uint64(uintptr(unsafe.Pointer(&area[0])))
	if n := m.ReadAvailable(at, p); n != len(p) {
		t.Errorf("%d bytes were read", n)
	}
	const crosses = 3*pageSize - 4
	if m.WriteMemory(at+crosses, p[:8]) == nil {
		t.Error("a page that is not there was written, although another program may have to fill it in")
	}
	if !m.FaultIn(at+crosses, 8) || m.WriteMemory(at+crosses, []byte("12345678")) != nil || string(area[crosses:][:8]) != "12345678" {
		t.Errorf("faulted in, and written: %q", area[crosses:][:8])
	}
}

func TestMappingLine(t *testing.T) {
	start, end, ok := mappingLine("7f12a0000000-7f12a0021000 rw-p 00000000 00:00 0 ")
	if !ok || start != 0x7f12a0000000 || end != 0x7f12a0021000 {
		t.Errorf("%#x %#x %v", start, end, ok)
	}
	for _, line := range []string{"VmFlags: rd wr mr", "Rss:   4 kB", "", strings.Repeat("-", 9)} {
		if _, _, ok := mappingLine(line); ok {
			t.Errorf("%q is taken for a mapping", line)
		}
	}
}
