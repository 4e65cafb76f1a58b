package armtest

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path"
)

// Image is the contents of an initramfs: an archive of files in the "newc" form of cpio, which the kernel unpacks
// into its root (the kernel's Documentation/driver-api/early-userspace/buffer-format.rst).
type Image struct {
	out  bytes.Buffer
	dirs map[string]bool
	ino  int
}

// NewImage returns an empty image.
func NewImage() *Image { return &Image{dirs: map[string]bool{"/": true, ".": true}} }

// Add adds a file of the host at a path of the image, with the directories that lead there.
func (m *Image) Add(at, from string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	m.AddBytes(at, data)
	return nil
}

// AddBytes adds a file that every user may execute.
func (m *Image) AddBytes(at string, data []byte) {
	m.Dir(path.Dir(at))
	m.entry(at, 0o100755, data)
}

// Dir adds a directory.
func (m *Image) Dir(at string) {
	if m.dirs[at] {
		return
	}
	m.dirs[at] = true
	m.Dir(path.Dir(at))
	m.entry(at, uint32(fs.ModePerm)|0o040000, nil)
}

// entry writes one member: a header of hexadecimal fields, the name, the data, each padded to four bytes.
func (m *Image) entry(at string, mode uint32, data []byte) {
	name := at[1:]
	m.ino++
	fmt.Fprintf(&m.out, "070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%s\x00",
		m.ino, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name)+1, 0, name)
	m.pad()
	m.out.Write(data)
	m.pad()
}

func (m *Image) pad() { m.out.Write(make([]byte, -m.out.Len()&3)) }

// Write writes the finished image.
func (m *Image) Write(file string) error {
	m.entry("/TRAILER!!!", 0, nil)
	return os.WriteFile(file, m.out.Bytes(), 0o600)
}
