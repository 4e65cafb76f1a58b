// Package datafile is where the data of a run goes: standard output, or a file that keeps its old contents until there are new ones, and
// may be followed by others when it is full.
package datafile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"syscall"
)

// A File is where a run's data goes. Two things are its own: the file keeps what it held until there is something else to hold, so that a
// script with a slip in it costs nobody the data of the run before; and a reader that went away, as head does, is told of at
// once. One goroutine writes at a time.
type File struct {
	Gone func() // called once, when nobody reads any more; may be nil

	file     *os.File
	fresh    bool      // it is emptied before it is written
	anew     bool      // and once more before the next write
	rotation *Rotation // nil: all goes into the one file

	empty, told sync.Once
}

// New takes what was opened by others, as standard output is: it is written where it stands.
func New(f *os.File) *File { return &File{file: f} }

// Fresh takes a file that was opened for this run's data alone. r is nil when it is the only one.
func Fresh(f *os.File, r *Rotation) (_ *File, err error) {
	if r != nil { // a name that means the same wherever a session in the background goes on
		r.path, err = filepath.Abs(f.Name())
	}
	return &File{file: f, fresh: true, rotation: r}, err
}

// Clear empties a fresh file, once: what is written from now on is all that it holds. What cannot be emptied, as a terminal, is as well.
// Where files follow one another, what the run before left is the first to make room.
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

// Restart has what is written next take the place of all that was written so far. Standard output, and files that follow one another,
// keep what they have.
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
