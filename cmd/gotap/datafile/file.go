// Package datafile writes the data of a run: to standard output, or to a file that keeps its old contents until there
// are new ones and that may be rotated when it is full. One goroutine writes a File at a time.
package datafile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"syscall"
)

// A File takes a run's data. The file keeps its old contents until the first write, so that a script with a mistake
// does not cost the data of the run before; and a reader that has gone, as head does, is reported at once. One
// goroutine writes at a time.
type File struct {
	Gone func() // called once, when the reader has gone; may be nil

	file     *os.File
	fresh    bool      // it is emptied before it is written
	anew     bool      // it is emptied again before the next write
	rotation *Rotation // nil: the data are one file

	empty, told sync.Once
}

// New takes a file that was opened elsewhere, such as standard output. It is not emptied.
func New(f *os.File) *File { return &File{file: f} }

// Fresh takes a file that was opened for this run's data. r is nil when it is not rotated.
func Fresh(f *os.File, r *Rotation) (_ *File, err error) {
	if r != nil { // a session in the background may change its working directory
		r.path, err = filepath.Abs(f.Name())
	}
	return &File{file: f, fresh: true, rotation: r}, err
}

// Clear empties a fresh file, once. Files that cannot be emptied, such as terminals, are left as they are. A rotated
// file is not emptied but rotated.
func (d *File) Clear() {
	if !d.fresh {
		return
	}
	d.empty.Do(func() {
		if info, err := d.file.Stat(); d.rotation != nil && err == nil && info.Size() > 0 && d.next() == nil {
			return
		}
		d.file.Truncate(0)
	})
}

// Restart has what is written next take the place of all that was written so far. Standard output, and files that
// follow one another, keep what they have.
func (d *File) Restart() { d.anew = d.fresh && d.rotation == nil }

// Write implements io.Writer; a fresh file is emptied before.
func (d *File) Write(data []byte) (int, error) {
	d.Clear()
	if d.anew {
		d.anew = false
		if d.file.Truncate(0) == nil { // a pipe or a terminal has nothing to go back to
			d.file.Seek(0, io.SeekStart)
		}
	}
	if d.rotation != nil {
		return d.writeRotated(data)
	}
	n, err := d.file.Write(data)
	if errors.Is(err, syscall.EPIPE) && d.Gone != nil {
		d.told.Do(d.Gone)
	}
	return n, err
}
