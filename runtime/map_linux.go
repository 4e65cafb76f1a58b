package runtime

import "golang.org/x/sys/unix"

const pageSize = 4096

// mapShared maps size bytes of zeroed, sparse memory, backed by a memfd where there are such, else anonymous.
func mapShared(size int) (mem []byte, fd int, free func() error, err error) {
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
