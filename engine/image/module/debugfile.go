package module

import (
	"bytes"
	"hash/crc32"
	"io"
	"path/filepath"
)

// debugRoot is where distributions install separate debug files.
const debugRoot = "/usr/lib/debug"

// Debug returns the separate debug file, or nil. It is searched by build ID below /usr/lib/debug/.build-id, and by the
// name and checksum in .gnu_debuglink next to the file, in .debug next to it and below /usr/lib/debug (GDB manual,
// "Debugging Information in Separate Files"), and last among the files that a client of debuginfod has fetched, or can
// fetch, if the user has asked for that. Closing the file closes its debug file.
func (f *File) Debug() *File {
	return f.debug.get(debugSearch{f}.find)
}

// Stripped reports whether most names of the file are missing: it has no full symbol table, neither in .gnu_debugdata,
// and no debug file with one is installed. Go programs are never stripped, because they have a table of their own.
func (f *File) Stripped() bool {
	return f.fullSymbols() == nil && f.elf.Section(".gopclntab") == nil
}

// debugFile is the separate debug file, which is searched when it is first wanted.
type debugFile struct {
	lazy[*File]
	fetch Fetcher // nil: nothing is fetched
}

// debugSearch finds the debug file of a file.
type debugSearch struct{ *File }

// find tries all candidates, first those in the file system of the process: the debug files of a container's libraries
// are in the container.
func (f debugSearch) find() *File {
	if f.elf.Section(".symtab") != nil && f.elf.Section(".debug_info") != nil {
		return nil // nothing is missing
	}
	roots := []string{""}
	if f.Root != "" {
		roots = []string{f.Root, ""}
	}
	link, sum := f.link()
	for _, root := range roots {
		if d := f.byID(root); d != nil {
			return d
		}
		if d := f.byLink(root, link, sum); d != nil {
			return d
		}
	}
	if d := f.byCache(); d != nil {
		return d
	}
	return f.byFetch()
}

// byID tries the path for the build ID below root.
func (f debugSearch) byID(root string) *File {
	if len(f.BuildID) < 4 {
		return nil
	}
	path := debugRoot + "/.build-id/" + f.BuildID[:2] + "/" + f.BuildID[2:] + ".debug"
	return f.try(root+path, func(d *File) bool { return d.BuildID == f.BuildID })
}

// byLink tries the paths that a debug link stands for.
func (f debugSearch) byLink(root, link string, sum uint32) *File {
	if link == "" {
		return nil
	}
	dir := filepath.Dir(f.Path)
	// Only the checksum identifies the file, because old files have no build ID. Reading the file takes about ten
	// milliseconds for libc, once.
	same := func(d *File) bool { return checksum(d) == sum }
	for _, path := range []string{dir + "/" + link, dir + "/.debug/" + link, debugRoot + dir + "/" + link} {
		if d := f.try(root+path, same); d != nil {
			return d
		}
	}
	return nil
}

// try opens a candidate and returns it if right accepts it. It refuses the file itself.
func (f debugSearch) try(path string, right func(*File) bool) *File {
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
	d.debug.leave() // a debug file has no debug file of its own
	return d
}

// link reads .gnu_debuglink: a file name, padded to four bytes, and the CRC-32 of the whole file.
func (f debugSearch) link() (name string, sum uint32) {
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

// checksum returns the CRC-32 of the whole file, or 0 when it cannot be read.
func checksum(f *File) uint32 {
	h := crc32.NewIEEE()
	if _, err := io.Copy(h, io.NewSectionReader(f.src, 0, 1<<62)); err != nil {
		return 0
	}
	return h.Sum32()
}
