package coredump

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ErrNoName reports that a directory contains the maximum number of cores of one thread.
var ErrNoName = errors.New("no name is free for another core")

// mostNames is the maximum number of cores of one thread in a directory.
const mostNames = 10000

// Create creates the file for a core in a directory: "core.NAME.TID", or "core.NAME.TID.2" and so on if that exists. It
// never changes an existing file or follows a link. Only the owner can read the file.
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

// clean turns a thread's name, which may contain any bytes, into a part of a file name.
func clean(name string) string {
	return strings.Map(func(r rune) rune {
		if r <= ' ' || r == '/' || r == 0x7f || r == 0xfffd {
			return '_'
		}
		return r
	}, name)
}
