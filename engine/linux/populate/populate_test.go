package populate

import (
	"bytes"
	"syscall"
	"testing"
	"unsafe"

	"gotap/engine/testenv"
)

// TestBytes has pages populated: mincore says which are there. What memory contains stays, and odd ranges do no harm.
func TestBytes(t *testing.T) {
	testenv.Require(t, testenv.Populate)
	page := syscall.Getpagesize()
	p, err := syscall.Mmap(-1, 0, 64*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Munmap(p)
	copy(p[page:], "kept")
	Bytes(p[page/2 : 40*page+page/2])
	resident := make([]byte, 64)
	if _, _, errno := syscall.Syscall(syscall.SYS_MINCORE, addr(p), uintptr(len(p)), uintptr(unsafe.Pointer(&resident[0]))); errno != 0 {
		t.Fatal(errno)
	}
	for i, r := range resident {
		if want := i <= 39; want != (r&1 == 1) {
			t.Errorf("page %d is populated: %v", i, r&1 == 1)
		}
	}
	if !bytes.HasPrefix(p[page:], []byte("kept\x00")) {
		t.Errorf("the memory has %q", p[page:page+8])
	}
	Bytes(nil)
	Bytes(p[:10])
	Range(addr(p)+1, 1)
	Range(addr(p)+uintptr(63*page), uintptr(2*page)) // what is not mapped
}

func addr(p []byte) uintptr { return uintptr(unsafe.Pointer(&p[0])) }
