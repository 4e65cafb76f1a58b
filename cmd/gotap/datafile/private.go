package datafile

import (
	"fmt"
	"os"
	"syscall"
)

// The data of a target may be secret, so new files are readable only by their owner. In a directory that others may
// write to, another user may already have made a file with a name that gotap chose.

// private is the mode of a new file.
const private = 0o600

// Create makes a new file and replaces an existing one. It follows no link, and does not write into an existing file,
// which another user may have open.
func Create(path string) (*os.File, error) { return create(path, private) }

// CreateShared is Create for a file that others may read.
func CreateShared(path string) (*os.File, error) { return create(path, 0o644) }

func create(path string, mode os.FileMode) (*os.File, error) {
	if info, err := os.Lstat(path); err == nil && (info.Mode().IsRegular() || info.Mode()&os.ModeSymlink != 0) {
		if err := os.Remove(path); err != nil {
			return nil, err
		}
	}
	return os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL|syscall.O_NOFOLLOW, mode)
}

// Open opens a file that the user named for writing, as a shell does; its contents stay. A link of another user is not
// followed. A new file is readable only by its owner.
func Open(path string, flags int) (*os.File, error) {
	if info, err := os.Lstat(path); err == nil && info.Mode()&os.ModeSymlink != 0 {
		if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Uid != 0 && int(st.Uid) != os.Geteuid() {
			return nil, fmt.Errorf("open %s: it is a link of user %d", path, st.Uid)
		}
	}
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|flags, private)
}

// IsNull reports whether what is written to a file is dropped, because it is /dev/null.
func IsNull(f *os.File) bool {
	st, err := f.Stat()
	null, nerr := os.Stat(os.DevNull)
	return err == nil && nerr == nil && os.SameFile(st, null)
}
