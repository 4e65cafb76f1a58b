package coredump

import "os"

// Save writes a core into a new file of a directory (see Create), and returns its path and size in bytes. If it cannot
// be written completely, the file is removed again.
func Save(dir, name string, tid int, p *Process) (path string, size int64, err error) {
	f, err := Create(dir, name, tid)
	if err != nil {
		return "", 0, err
	}
	size, err = Write(f, p)
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return f.Name(), size, err
}
