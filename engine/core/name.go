package core

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ErrNoName says that a directory is full of cores of one thread.
var ErrNoName = errors.New("no name is free for another core")

// mostNames is how many cores of one thread a directory may hold.
const mostNames = 10000

// Create makes the file for a core in a directory: "core.NAME.TID", and when that is there already "core.NAME.TID.2" and so
// on. It never touches a file, or follows a link, that is there. Only its owner can read it.
func Create(dir, name string, tid int) (*os.File, error) {
	base := filepath.Join(dir, fmt.Sprintf("core.%s.%d", clean(name), tid))
	for i := 1; i < mostNames; i++ {
		path := base
		if i > 1 {
			path = fmt.Sprintf("%s.%d", base, i)
		}
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil || !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
	return nil, fmt.Errorf("%s: %w", base, ErrNoName)
}

// clean makes a thread's name, which may hold any bytes, part of a file name.
func clean(name string) string {
	return strings.Map(func(r rune) rune {
		if r <= ' ' || r == '/' || r == 0x7f || r == 0xfffd {
			return '_'
		}
		return r
	}, name)
}
