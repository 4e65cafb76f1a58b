package module

import (
	"bytes"
	"hash/crc32"
	"io"
	"path/filepath"
)

// debugRoot is where distributions put separate debug files.
const debugRoot = "/usr/lib/debug"

// Debug is the separate debug file that belongs to this one, or nil when there is none. It is found by build-id below
// /usr/lib/debug/.build-id, and by the name and checksum in .gnu_debuglink beside the file, in .debug beside it and below
// /usr/lib/debug (GDB manual, "Debugging Information in Separate Files"). Closing the file closes it.
func (f *File) Debug() *File {
	f.debugOnce.Do(func() { f.debug = f.findDebug() })
	return f.debug
}

// Stripped reports whether most names of the file are gone: it has no full symbol table, and no debug file with one is installed. Go
// programs keep a table of their own.
func (f *File) Stripped() bool {
	has := func(f *File) bool { return f != nil && f.elf.Section(".symtab") != nil }
	return !has(f) && !has(f.Debug()) && f.elf.Section(".gopclntab") == nil
}

// findDebug tries all candidates, those of the process's own file system first: a container's libraries have their debug
// files inside the container, if anywhere, while its build-ids may be known to the host as well.
func (f *File) findDebug() *File {
	if f.elf.Section(".symtab") != nil && f.elf.Section(".debug_info") != nil {
		return nil // nothing is missing
	}
	roots := []string{""}
	if f.root != "" {
		roots = []string{f.root, ""}
	}
	link, sum := f.debugLink()
	for _, root := range roots {
		if d := f.debugByID(root); d != nil {
			return d
		}
		if d := f.debugByLink(root, link, sum); d != nil {
			return d
		}
	}
	return nil
}

// debugByID tries the build-id's place below root.
func (f *File) debugByID(root string) *File {
	if len(f.BuildID) < 4 {
		return nil
	}
	path := debugRoot + "/.build-id/" + f.BuildID[:2] + "/" + f.BuildID[2:] + ".debug"
	return f.tryDebug(root+path, func(d *File) bool { return d.BuildID == f.BuildID })
}

// debugByLink tries the places that a debug link may mean.
func (f *File) debugByLink(root, link string, sum uint32) *File {
	if link == "" {
		return nil
	}
	dir := filepath.Dir(f.Path)
	// The checksum is the only thing that ties a debug link to its file, and old files have no build-id. Reading all of it costs
	// some ten milliseconds for libc, once.
	same := func(d *File) bool { return d.checksum() == sum }
	for _, path := range []string{dir + "/" + link, dir + "/.debug/" + link, debugRoot + dir + "/" + link} {
		if d := f.tryDebug(root+path, same); d != nil {
			return d
		}
	}
	return nil
}

// tryDebug opens a candidate and keeps it if it is the right one. A file that names itself is not.
func (f *File) tryDebug(path string, right func(*File) bool) *File {
	d, err := openIn("", path, path)
	if err != nil {
		return nil
	}
	// A program that was never stripped may link to its own name.
	itself := f.Inode != 0 && d.Inode == f.Inode && d.Dev == f.Dev
	contradicts := d.BuildID != "" && f.BuildID != "" && d.BuildID != f.BuildID
	if itself || contradicts || d.Machine != f.Machine || d.Bits != f.Bits || !right(d) {
		d.Close()
		return nil
	}
	d.debugOnce.Do(func() {}) // a debug file has no debug file of its own
	return d
}

// debugLink reads .gnu_debuglink: a file name, padded to four bytes, and the CRC-32 of the whole file.
func (f *File) debugLink() (name string, sum uint32) {
	data, _, err := f.Section(".gnu_debuglink")
	end := bytes.IndexByte(data, 0)
	if err != nil || end <= 0 {
		return "", 0
	}
	at := (end + 4) &^ 3 // behind the terminating zero and its padding
	if at+4 > len(data) || bytes.IndexByte(data[:end], '/') >= 0 {
		return "", 0
	}
	return string(data[:end]), f.Order.Uint32(data[at:])
}

// checksum is the CRC-32 of the whole file; 0 when it cannot be read.
func (f *File) checksum() uint32 {
	h := crc32.NewIEEE()
	if _, err := io.Copy(h, io.NewSectionReader(f.src, 0, 1<<62)); err != nil {
		return 0
	}
	return h.Sum32()
}
