package arena

import "golang.org/x/sys/unix"

const pageSize = 4096

// populate makes the kernel provide all pages of memory now. It fails on kernels before 5.14, and where a limit forbids
// it.
func populate(mem []byte) error { return unix.Madvise(mem, unix.MADV_POPULATE_WRITE) }

// mapShared maps size bytes of zeroed, sparse memory. The memory is backed by a memfd if possible, otherwise anonymous.
func mapShared(size int) (mem []byte, fd int, free func() error, err error) {
	// memfd_create(2) is not available everywhere (seccomp filters, kernels before 3.17). Without it the arena works
	// too, but only in this process.
	fd, flags := -1, unix.MAP_SHARED|unix.MAP_NORESERVE
	if f, err := unix.MemfdCreate("gotap-arena", unix.MFD_CLOEXEC); err == nil {
		if unix.Ftruncate(f, int64(size)) == nil {
			fd = f
		} else {
			unix.Close(f)
		}
	}
	if fd < 0 {
		flags |= unix.MAP_ANON
	}
	// The mapping is shared, so that another process that maps the memfd sees the same words. It has no reservation,
	// because an arena is sized for the worst case and most of it is never touched.
	mem, err = unix.Mmap(fd, 0, size, unix.PROT_READ|unix.PROT_WRITE, flags)
	if err != nil {
		if fd >= 0 {
			unix.Close(fd)
		}
		return nil, -1, nil, err
	}
	return mem, fd, func() error {
		err := unix.Munmap(mem)
		if fd >= 0 {
			unix.Close(fd)
		}
		return err
	}, nil
}
