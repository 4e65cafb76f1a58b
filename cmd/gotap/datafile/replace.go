package datafile

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// shared is the mode of a new file that other programs read, such as a collector of metrics; the umask restricts it.
const shared = 0o644

// Replaceable returns the name of the file that Replace may replace for a path: links are followed. ok is false for
// a file that is not regular, such as a pipe. The error is that nothing can be written beside the file.
func Replaceable(path string) (name string, ok bool, err error) {
	if path, err = filepath.Abs(path); err != nil {
		return "", false, err
	}
	if to, err := filepath.EvalSymlinks(path); err == nil {
		path = to
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return path, false, nil
	}
	f, err := beside(path)
	if err != nil {
		return "", false, err
	}
	f.Close()
	return path, true, os.Remove(f.Name())
}

// Replace replaces a file as a whole: a reader sees the old content or the new one. An existing file's mode is kept.
func Replace(path string, data []byte) error {
	f, err := beside(path)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if info, serr := os.Stat(path); err == nil && serr == nil {
		err = f.Chmod(info.Mode().Perm())
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
		return fmt.Errorf("cannot replace %s: %w", path, err)
	}
	return nil
}

// beside makes a new file in the folder of another one. Its name does not end as the other's, so that a collector does
// not read it.
func beside(path string) (*os.File, error) {
	name := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+"."+strconv.Itoa(os.Getpid()))
	os.Remove(name) // of an earlier process with this number
	return os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, shared)
}
