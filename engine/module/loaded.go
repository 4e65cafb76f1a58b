package module

import (
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"gotap/engine/procfs"
)

// Loaded is one module in one process. The same file loaded twice, as by dlmopen, is two of them.
type Loaded struct {
	Path       string // in the process's mount namespace
	Deleted    bool
	Dev, Inode uint64    // as the process maps it
	Mappings   []Mapping // by address, at least one of them executable
	File       *File     // set by Cache.Load; nil with Err set when the file cannot be read
	Bias       uint64    // what is added to the file's addresses; wraps
	Err        error
}

// Start is the lowest address of the module.
func (l *Loaded) Start() uint64 { return l.Mappings[0].Start }

// End is the address behind the module's last mapping.
func (l *Loaded) End() uint64 { return l.Mappings[len(l.Mappings)-1].End }

// Contains reports whether an address is in one of the module's mappings.
func (l *Loaded) Contains(addr uint64) bool {
	for _, m := range l.Mappings {
		if addr >= m.Start && addr < m.End {
			return true
		}
	}
	return false
}

// Vaddr turns an address of the process into one of the file.
func (l *Loaded) Vaddr(addr uint64) uint64 { return l.File.wrap(addr - l.Bias) }

// Addr turns an address of the file into one of the process.
func (l *Loaded) Addr(vaddr uint64) uint64 { return l.File.wrap(vaddr + l.Bias) }

// Covers reports whether an address of the file is part of this copy of it. What a loader maps is all of the file's segments. Some programs
// map a part of their own code a second time, to have it near other code (V8 does so with its built-in functions): that copy runs too,
// but it ends with its mappings.
func (l *Loaded) Covers(vaddr uint64) bool {
	return l.Mappings[0].Offset <= l.File.firstOffset() || l.Contains(l.Addr(vaddr))
}

// firstOffset is where the first segment begins in the file; a mapping of it begins there, or at the start of that page.
func (f *File) firstOffset() uint64 {
	first := ^uint64(0)
	for _, s := range f.Segments {
		first = min(first, s.Offset)
	}
	return first
}

// Group puts the mappings of files together that make up loaded modules: those of one file with rising offsets. Files
// without executable mapping, and anonymous memory, are left out. Mappings have to be sorted, as the kernel lists them.
func Group(maps []Mapping) []Loaded {
	type key struct{ dev, inode uint64 }
	open := map[key]int{} // the group that a file's next mapping may belong to
	var groups []Loaded
	for _, m := range maps {
		if !m.File() {
			continue
		}
		k := key{m.Dev, m.Inode}
		// Loaders map a file from its beginning and go up. A mapping that starts over is another copy, except that a file that
		// fits in one page has all its segments at offset 0.
		if i, ok := open[k]; ok {
			last := groups[i].Mappings[len(groups[i].Mappings)-1]
			if m.Offset >= last.Offset && !(m.Offset == 0 && last.Offset == 0 && m.Exec == last.Exec && m.Start != last.End) {
				groups[i].Mappings = append(groups[i].Mappings, m)
				continue
			}
		}
		open[k] = len(groups)
		groups = append(groups, Loaded{Path: m.Path, Deleted: m.Deleted, Dev: m.Dev, Inode: m.Inode, Mappings: []Mapping{m}})
	}
	return executable(groups)
}

// executable keeps the groups that hold code.
func executable(groups []Loaded) []Loaded {
	kept := groups[:0]
	for _, g := range groups {
		for _, m := range g.Mappings {
			if m.Exec {
				kept = append(kept, g)
				break
			}
		}
	}
	return kept
}

// Find is the module that an address of the process belongs to, nil for none.
func Find(mods []Loaded, addr uint64) *Loaded {
	for i := range mods {
		if mods[i].Contains(addr) {
			return &mods[i]
		}
	}
	return nil
}

// BiasOf is what was added to the addresses of a file, by its path, or by its name alone where it lies elsewhere. ok is false when
// no module is that file.
func BiasOf(mods []Loaded, path string) (bias uint64, ok bool) {
	base := path[strings.LastIndexByte(path, '/')+1:]
	for i := range mods {
		m := &mods[i]
		switch {
		case m.File == nil || m.Err != nil:
		case m.File.Path == path:
			return m.Bias, true
		case !ok && m.Path[strings.LastIndexByte(m.Path, '/')+1:] == base:
			bias, ok = m.Bias, true
		}
	}
	return bias, ok
}

// ErrNotMapped says that no mapping of a module fits its program headers.
var ErrNotMapped = errors.New("no mapping fits the file")

// bias finds what was added to the addresses of a file. A mapping holds part of some segment, of the same permission
// to execute, and starts at a whole page at or before it.
func (f *File) bias(maps []Mapping) (uint64, error) {
	// Executable mappings first: they are what probes are about, and the others may be changed by RELRO. A segment that
	// begins inside a page shares it with the one before, which only the permission tells apart.
	for _, exec := range []bool{true, false} {
		for _, m := range maps {
			if m.Exec != exec {
				continue
			}
			for _, s := range f.Segments {
				overlap := m.Offset < s.Offset+s.FileSize && m.Offset+(m.End-m.Start) > s.Offset
				if overlap && (s.Flags&elf.PF_X != 0) == exec {
					return f.wrap(m.Start - (s.Vaddr + m.Offset - s.Offset)), nil
				}
			}
		}
	}
	return 0, fmt.Errorf("cannot find where %s is loaded: %w", f.Path, ErrNotMapped)
}

// cacheKey says which file it is and that it has not changed since: inode numbers are used again.
type cacheKey struct {
	dev, inode uint64
	size       int64
	mtime      unix.Timespec
	ctime      unix.Timespec
}

// Cache keeps Files that several processes map. It is safe for concurrent use. Files stay open until Close, so that a
// process that has ended can still be told about.
type Cache struct {
	mu    sync.Mutex
	files map[cacheKey]*File
}

// Load lists the modules of a process, in the order of addresses, each with its file and bias where the file can be
// read. Modules whose file cannot be read have Err set: mapped files that are no ELF, or of other users.
func (c *Cache) Load(pid int) ([]Loaded, error) {
	maps, err := Maps(pid)
	if err != nil {
		return nil, err
	}
	mods := Group(maps)
	for i := range mods {
		l := &mods[i]
		if l.File, l.Err = c.OpenMapped(pid, l); l.Err == nil {
			l.Bias, l.Err = l.File.bias(l.Mappings)
		}
	}
	return mods, nil
}

// OpenPath opens a file of this mount namespace, or finds it in the cache.
func (c *Cache) OpenPath(path string) (*File, error) { return c.open("", path, path) }

// OpenMapped opens the file of a loaded module, or finds it in the cache: through the mapping itself, which finds
// deleted files too but takes privileges, through the program's own link, or by path below the process's root directory,
// where the file has to be the one that is mapped.
func (c *Cache) OpenMapped(pid int, l *Loaded) (*File, error) {
	pid = procfs.Living(pid)
	root := processRoot(pid)
	first := l.Mappings[0]
	link := fmt.Sprintf("/proc/%d/map_files/%x-%x", pid, first.Start, first.End)
	if f, err := c.open(root, l.Path, link); err == nil || !errors.Is(err, os.ErrPermission) && !errors.Is(err, os.ErrNotExist) {
		return f, err
	}
	// The link of the program works without privileges even when the file was deleted or replaced.
	for _, path := range []string{fmt.Sprintf("/proc/%d/exe", pid), fmt.Sprintf("/proc/%d/root%s", pid, l.Path)} {
		if sameFile(path, l) {
			return c.open(root, l.Path, path)
		}
	}
	if l.Deleted {
		return nil, fmt.Errorf("cannot open module %s: it was deleted, and reading it takes CAP_CHECKPOINT_RESTORE", l.Path)
	}
	return nil, fmt.Errorf("cannot open module %s: the file there is not the one that process %d maps", l.Path, pid)
}

// processRoot is the root directory of a process seen from here, "" when it is ours.
func processRoot(pid int) string {
	root := fmt.Sprintf("/proc/%d/root", pid)
	var theirs, ours unix.Stat_t
	if unix.Stat(root+"/", &theirs) != nil || unix.Stat("/", &ours) != nil || theirs.Dev == ours.Dev && theirs.Ino == ours.Ino {
		return ""
	}
	return root
}

// File systems that give mapped files other device or inode numbers than stat does.
const (
	magicOverlay = 0x794c7630
	magicBtrfs   = 0x9123683e
)

// sameFile reports whether a path is the file that a module maps.
func sameFile(path string, l *Loaded) bool {
	var st unix.Stat_t
	var fs unix.Statfs_t
	if unix.Stat(path, &st) != nil || unix.Statfs(path, &fs) != nil {
		return false
	}
	switch uint32(fs.Type) { // a word of 32 bits in all kernels
	case magicBtrfs:
		return st.Ino == l.Inode
	case magicOverlay:
		return st.Ino == l.Inode || !l.Deleted
	}
	return st.Dev == l.Dev && st.Ino == l.Inode
}

// open opens a file and keeps it, unless the cache has the same one.
func (c *Cache) open(root, display, path string) (*File, error) {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return nil, fmt.Errorf("cannot open module %s: %w", display, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if f := c.files[keyOf(&st)]; f != nil {
		return f, nil
	}
	f, err := openIn(root, display, path)
	if err != nil {
		return nil, err
	}
	if f.Dev != uint64(st.Dev) || f.Inode != st.Ino { // another one has taken its place meanwhile
		f.Close()
		return nil, fmt.Errorf("cannot open module %s: it was replaced while it was opened", display)
	}
	if c.files == nil {
		c.files = map[cacheKey]*File{}
	}
	c.files[keyOf(&st)] = f
	return f, nil
}

// keyOf is the key of a file as stat sees it.
func keyOf(st *unix.Stat_t) cacheKey {
	return cacheKey{uint64(st.Dev), st.Ino, st.Size, st.Mtim, st.Ctim}
}

// Close closes all files.
func (c *Cache) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var first error
	for _, f := range c.files {
		if err := f.Close(); first == nil {
			first = err
		}
	}
	c.files = nil
	return first
}

// ListChanged is the address of the function that a dynamic loader calls for debuggers before and after it changes its list of
// modules (r_brk of struct r_debug, System V ABI), by its names in glibc and musl. ok is false for what is no such loader.
func (m *Loaded) ListChanged() (addr uint64, ok bool) {
	for _, name := range []string{"_dl_debug_state", "dl_debug_state"} {
		for _, match := range m.File.Lookup(name) {
			return m.Addr(match.Func.Addr), true
		}
	}
	return 0, false
}

// MainFirst moves the program that a process runs to the front of its modules.
func MainFirst(pid int, mods []Loaded) []Loaded {
	exe := procfs.Link(procfs.Living(pid), "exe")
	if i := slices.IndexFunc(mods, func(m Loaded) bool {
		return m.Path == exe || m.Deleted && m.Path+" (deleted)" == exe
	}); i > 0 {
		m := mods[i]
		mods = slices.Insert(slices.Delete(mods, i, i+1), 0, m)
	}
	return mods
}

// Files lists the files of modules in their order, each once, but for those that could not be read.
func Files(mods []Loaded) []*File {
	var all []*File
	for i := range mods {
		if f := mods[i].File; f != nil && mods[i].Err == nil && !slices.Contains(all, f) {
			all = append(all, f)
		}
	}
	return all
}
