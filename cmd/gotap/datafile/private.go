package datafile

import (
	"fmt"
	"os"
	"syscall"
)

// What a target says may be secret, so that files of gotap are made for their owner alone. A name that gotap chose, in a directory that
// others may write to, may have been taken by them before.

// private is the mode of a new file.
const private = 0o600

// Create makes a new file in the place of what has the name. It follows no link, and writes into no file that is there: somebody else
// may have it open.
func Create(path string) (*os.File, error) { return create(path, private) }

// CreateShared is Create for what others may read.
func CreateShared(path string) (*os.File, error) { return create(path, 0o644) }

func create(path string, mode os.FileMode) (*os.File, error) {
	if info, err := os.Lstat(path); err == nil && (info.Mode().IsRegular() || info.Mode()&os.ModeSymlink != 0) {
		if err := os.Remove(path); err != nil {
			return nil, err
		}
	}
	return os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL|syscall.O_NOFOLLOW, mode)
}

// Open opens a file that the user named for writing, as a shell does; what is in it stays. A link that belongs to somebody else is not
// followed. A file that is not there is made for its owner alone.
func Open(path string, flags int) (*os.File, error) {
	if info, err := os.Lstat(path); err == nil && info.Mode()&os.ModeSymlink != 0 {
		if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Uid != 0 && int(st.Uid) != os.Geteuid() {
			return nil, fmt.Errorf("open %s: it is a link of user %d", path, st.Uid)
		}
	}
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|flags, private)
}
