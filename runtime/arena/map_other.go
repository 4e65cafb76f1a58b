//go:build !linux

package arena

import (
	"errors"
	"unsafe"
)

const pageSize = 4096

// populate is for memory that is shared, of which there is none.
func populate([]byte) error { return errors.ErrUnsupported }

// mapShared allocates ordinary memory. Without Linux there is no other process to share it with, but programs can still
// be compiled, verified and run against memory images.
func mapShared(size int) (mem []byte, fd int, free func() error, err error) {
	if size > 64<<20 {
		size = 64 << 20
	}
	words := make([]uint64, size/8)
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), size), -1, func() error { return nil }, nil
}
