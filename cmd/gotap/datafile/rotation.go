package datafile

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// A Rotation is --rotate SIZE[,FILES]: the file of -o is the newest; when it is full it becomes FILE.1, that FILE.2,
// and so on, and what would be one file too many is forgotten. Lines are never divided, so each file is read as if it
// were the only one.
type Rotation struct {
	size  int64 // bytes of a file
	files int   // at most, the newest included
	path  string

	used    int64 // bytes of the newest
	midline bool  // what was written last did not end a line
}

// Limits of a rotation.
const (
	rotatedFiles = 10 // when no number is given
	mostRotated  = 1000
	leastRotated = 512 // bytes: less holds hardly a record
)

// units are the suffixes of a size.
var units = map[byte]int64{'K': 1 << 10, 'M': 1 << 20, 'G': 1 << 30}

// ParseRotation reads SIZE[,FILES]; SIZE is a number of megabytes, or has one of the suffixes.
func ParseRotation(text string) (*Rotation, error) {
	size, files, counted := strings.Cut(text, ",")
	r := &Rotation{files: rotatedFiles}
	unit, number := units['M'], size
	if n := len(size); n > 0 && units[size[n-1]&^0x20] != 0 {
		unit, number = units[size[n-1]&^0x20], size[:n-1]
	}
	n, err := strconv.ParseInt(number, 10, 64)
	switch {
	case err != nil || n < 0 || n > 1<<62/unit:
		return nil, fmt.Errorf("--rotate %s: %q is not a size, such as 512K, 10M or 1G", text, size)
	case n*unit < leastRotated:
		return nil, fmt.Errorf("--rotate %s: a file has at least %d bytes", text, leastRotated)
	}
	r.size = n * unit
	if !counted {
		return r, nil
	}
	r.files, err = strconv.Atoi(files)
	if err != nil || r.files < 1 || r.files > mostRotated {
		return nil, fmt.Errorf("--rotate %s: %q is not a number of files from 1 to %d", text, files, mostRotated)
	}
	return r, nil
}

// writeRotated writes whole lines to one file after the other. It returns how much of data is written.
func (d *File) writeRotated(data []byte) (done int, err error) {
	r := d.rotation
	for done < len(data) && err == nil {
		part := r.part(data[done:])
		if part == 0 {
			err = d.next()
			continue
		}
		var n int
		n, err = d.file.Write(data[done : done+part])
		r.wrote(data[done : done+n])
		done += n
	}
	return done, err
}

// part returns how much of data the newest file takes: all, what of it is whole lines, or when it has none the rest of
// the line that it has begun. 0: the next file is due. A line longer than a file is a file of its own.
func (r *Rotation) part(data []byte) int {
	room := r.size - r.used
	if int64(len(data)) <= room {
		return len(data)
	}
	if room > 0 {
		if n := bytes.LastIndexByte(data[:room], '\n') + 1; n > 0 {
			return n
		}
	}
	if r.used > 0 && !r.midline {
		return 0
	}
	if n := bytes.IndexByte(data, '\n') + 1; n > 0 {
		return n
	}
	return len(data)
}

// wrote notes what the newest file has got.
func (r *Rotation) wrote(data []byte) {
	r.used += int64(len(data))
	if len(data) > 0 {
		r.midline = data[len(data)-1] != '\n'
	}
}

// next makes room for a new file by renaming those that are there. What cannot be renamed for another reason than that
// it is not there keeps the data where it is.
func (d *File) next() error {
	r := d.rotation
	for n := r.files - 1; n > 0; n-- {
		if err := os.Rename(r.name(n-1), r.name(n)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("cannot begin the next output file: %w", err)
		}
	}
	f, err := Create(r.path)
	if err != nil {
		return fmt.Errorf("cannot begin the next output file: %w", err)
	}
	d.file.Close() // everything has been written, so no error is left to report
	d.file = f
	r.used, r.midline = 0, false
	return nil
}

// name is that of the nth file, the newest being the 0th.
func (r *Rotation) name(n int) string { return rotatedName(r.path, n) }

// Names are those of all files that there may be for a path; r may be nil.
func (r *Rotation) Names(path string) []string {
	names := []string{path}
	for n := 1; r != nil && n < r.files; n++ {
		names = append(names, rotatedName(path, n))
	}
	return names
}

func rotatedName(path string, n int) string {
	if n == 0 {
		return path
	}
	return path + "." + strconv.Itoa(n)
}
