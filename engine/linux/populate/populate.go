// Package populate gives memory its pages before it is used. A page that is touched for the first time costs an
// exception, which takes 0.2 µs on a processor and up to 16 µs in a virtual machine; the kernel gives many pages at once
// in a tenth of that time. Kernels before 5.14 cannot, and nothing changes then.
//
// The package imports nothing but system calls, so that it is initialised before what needs it. It starts no goroutines.
package populate

import (
	"syscall"
	"unsafe"
)

// populateWrite is MADV_POPULATE_WRITE, which package syscall lacks.
const populateWrite = 23

// worthwhile is how many bytes are populated at least: one system call takes as long as a few exceptions.
const worthwhile = 64 << 10

// Bytes populates the whole pages of p, which is about to be written from its start to its end. It does not change
// what p contains.
func Bytes(p []byte) {
	if len(p) >= worthwhile {
		Range(uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)))
	}
}

// Range populates the whole pages of a range of addresses, as far as it is mapped.
func Range(start, size uintptr) {
	page := uintptr(syscall.Getpagesize())
	first, end := (start+page-1)&^(page-1), (start+size)&^(page-1)
	if first < end {
		syscall.Syscall(syscall.SYS_MADVISE, first, end-first, populateWrite)
	}
}
