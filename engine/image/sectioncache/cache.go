package sectioncache

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	smallest = 64 << 10       // bytes of a section that is worth a file
	atMost   = 1 << 30        // bytes of all files
	noted    = 24 * time.Hour // the use of a file is noted this often
	staleAge = time.Hour      // age of a temporary file whose writer must have been killed
)

// tempPrefix begins the names of files that are being written.
const tempPrefix = "new-"

// Variable is the environment variable that names the cache's directory. "off" stands for none.
const Variable = "GOTAP_CACHE"

// Cache is a directory of decompressed sections. A nil Cache has none and keeps none. A Cache is safe for concurrent
// use, and so is its directory for several processes.
type Cache struct {
	root  *os.Root
	least int64 // bytes of a file
	most  int64 // bytes of all files
}

// Default returns the cache of this user, in $GOTAP_CACHE or gotap/sections of the user's cache directory; nil if there
// is none. The first call opens it.
var Default = sync.OnceValue(func() *Cache {
	dir := directory()
	if dir == "" {
		return nil
	}
	c, err := Open(dir, smallest, atMost)
	if err != nil {
		return nil
	}
	return c
})

// directory returns the directory that the environment names, or "". A home directory that does not exist is not
// created: that of system users often does not, by intention.
func directory() string {
	switch dir := os.Getenv(Variable); dir {
	case "off":
		return ""
	case "":
		base, err := os.UserCacheDir()
		if err != nil {
			return ""
		}
		if _, err := os.Stat(filepath.Dir(base)); err != nil {
			return ""
		}
		return filepath.Join(base, "gotap", "sections")
	default:
		return dir
	}
}

// Open returns the cache in a directory, which is created if it does not exist. Files that have not been used for the
// longest time are removed while all have more than most bytes. What has fewer than least bytes is not kept. It is an
// error if others than the effective user may write to the directory.
func Open(dir string, least, most int64) (*Cache, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	st, err := root.Stat(".")
	if err != nil || !ours(st) {
		root.Close()
		return nil, fs.ErrPermission
	}
	return &Cache{root: root, least: least, most: most}, nil
}

// Close closes the directory. Sections that Get returned remain valid.
func (c *Cache) Close() error { return c.root.Close() }

// Section is a decompressed section.
type Section struct {
	Data   []byte
	mapped bool
}

// Unmap ends the use of Data.
func (s *Section) Unmap() error {
	if !s.mapped {
		return nil
	}
	s.mapped = false
	return syscall.Munmap(s.Data)
}

// Get returns the section whose compressed bytes are packed, and which has size bytes when it is decompressed. Where
// the cache does not have it, decompress makes it, whose error Get returns, and the section is kept. The section must
// not be written to; it must be unmapped when it is not needed any more.
func (c *Cache) Get(packed []byte, size uint64, decompress func() ([]byte, error)) (Section, error) {
	if c == nil || size < uint64(c.least) || size > uint64(c.most/2) || size > math.MaxInt {
		data, err := decompress()
		return Section{Data: data}, err
	}
	name := nameOf(packed)
	if data := c.load(name, int64(size)); data != nil {
		return Section{Data: data, mapped: true}, nil
	}
	data, err := decompress()
	if err == nil && uint64(len(data)) == size {
		c.store(name, data)
	}
	return Section{Data: data}, err
}

// Derived returns what derive makes. key stands for it: all that derive depends on has to be part of key. What the cache
// has is returned if right accepts it, and is made again otherwise. The error is that of derive, whose result is not
// kept then.
func (c *Cache) Derived(key []byte, right func(data []byte) bool, derive func() ([]byte, error)) ([]byte, error) {
	if c == nil {
		return derive()
	}
	name := nameOf(key)
	if data := c.read(name); data != nil && right(data) {
		return data, nil
	}
	data, err := derive()
	if err == nil && int64(len(data)) >= c.least && int64(len(data)) <= c.most/2 {
		c.store(name, data)
	}
	return data, err
}

// nameOf returns the name of the file for a section.
func nameOf(packed []byte) string {
	sum := sha256.Sum256(packed)
	return hex.EncodeToString(sum[:])
}

// load maps the file of a name, or returns nil if it does not have this size.
func (c *Cache) load(name string, size int64) []byte {
	f, has := c.open(name)
	if f == nil {
		return nil
	}
	defer f.Close()
	if has != size {
		return nil
	}
	data, err := syscall.Mmap(int(f.Fd()), 0, int(size), syscall.PROT_READ, syscall.MAP_PRIVATE)
	if err != nil {
		return nil
	}
	return data
}

// read reads the file of a name, or returns nil.
func (c *Cache) read(name string) []byte {
	f, size := c.open(name)
	if f == nil {
		return nil
	}
	defer f.Close()
	if size > c.most/2 || size > math.MaxInt {
		return nil
	}
	data := make([]byte, size)
	if _, err := io.ReadFull(f, data); err != nil {
		return nil
	}
	return data
}

// open opens the file of a name and returns its size, or nil if it is not to be trusted. It notes that the file is
// used.
func (c *Cache) open(name string) (f *os.File, size int64) {
	f, err := c.root.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, 0
	}
	st, err := f.Stat()
	if err != nil || !st.Mode().IsRegular() || !ours(st) {
		f.Close()
		return nil, 0
	}
	if now := time.Now(); now.Sub(st.ModTime()) > noted {
		c.root.Chtimes(name, now, now) // or it is removed early
	}
	return f, st.Size()
}

// store keeps a section, if that is possible.
func (c *Cache) store(name string, data []byte) {
	c.makeRoom(int64(len(data)))
	temp := tempPrefix + rand.Text()
	if err := c.write(temp, data); err != nil || c.root.Rename(temp, name) != nil {
		c.root.Remove(temp)
	}
}

// write writes a new file and flushes it to disk: a rename may otherwise outlive a power failure that the contents do
// not.
func (c *Cache) write(name string, data []byte) error {
	f, err := c.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return cmp.Or(err, f.Sync(), f.Close())
}

// makeRoom removes the files that have not been used for the longest time until more bytes fit, and what killed writers
// left.
func (c *Cache) makeRoom(more int64) {
	files := c.files()
	for _, f := range files {
		more += f.Size()
	}
	for _, f := range files {
		stale := strings.HasPrefix(f.Name(), tempPrefix) && time.Since(f.ModTime()) > staleAge
		if more <= c.most && !stale {
			continue
		}
		if c.root.Remove(f.Name()) == nil {
			more -= f.Size()
		}
	}
}

// ownName is the name of a file of a cache. Others in the directory are left alone.
var ownName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([0-9a-f]{64}|` + tempPrefix + `[A-Z2-7]+)$`) })

// files returns the cache's files, that used least recently first.
func (c *Cache) files() []fs.FileInfo {
	entries, err := fs.ReadDir(c.root.FS(), ".")
	if err != nil {
		return nil
	}
	var files []fs.FileInfo
	for _, e := range entries {
		if st, err := e.Info(); err == nil && st.Mode().IsRegular() && ownName().MatchString(e.Name()) {
			files = append(files, st)
		}
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	return files
}

// ours reports whether a file or directory belongs to the effective user, and nobody else may write to it.
func ours(st fs.FileInfo) bool {
	sys, ok := st.Sys().(*syscall.Stat_t)
	return ok && int(sys.Uid) == os.Geteuid() && st.Mode().Perm()&0o022 == 0
}
