package module

import (
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"gotap/engine/linux/procfs"
)

// Loaded is one module in one process. A file that is loaded twice, as by dlmopen, is two modules.
type Loaded struct {
	Path       string // in the process's mount namespace
	Deleted    bool
	Dev, Inode uint64    // as the process maps it
	Mappings   []Mapping // by address, at least one of them executable
	File       *File     // set by Cache.Load; nil with Err set when the file cannot be read
	Bias       uint64    // added to the addresses of the file, modulo 2^64
	Err        error
}

// Start returns the lowest address of the module.
func (l *Loaded) Start() uint64 { return l.Mappings[0].Start }

// End returns the address behind the module's last mapping.
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

// Vaddr converts an address of the process to one of the file.
func (l *Loaded) Vaddr(addr uint64) uint64 { return l.File.wrap(addr - l.Bias) }

// Addr converts an address of the file to one of the process.
func (l *Loaded) Addr(vaddr uint64) uint64 { return l.File.wrap(vaddr + l.Bias) }

// Covers reports whether an address of the file is part of this copy. A loader maps all segments of a file. Some
// programs map a part of their own code a second time to have it near other code, as V8 does with its built-in
// functions. That copy runs, too, but consists of its mappings only.
func (l *Loaded) Covers(vaddr uint64) bool {
	return l.Mappings[0].Offset <= l.File.firstOffset() || l.Contains(l.Addr(vaddr))
}

// Backed returns the parts of a range of the file's addresses that the process maps from the file, according to maps.
// The rest of the range may contain anything: a program may unmap parts of a file, and a second copy (see Covers) has a
// part of it only.
func (l *Loaded) Backed(maps []Mapping, r Range) (backed []Range) {
	for _, m := range maps {
		if m.Dev != l.Dev || m.Inode != l.Inode {
			continue
		}
		start := max(r.Start, l.Vaddr(m.Start))
		end := min(r.End, l.Vaddr(m.Start)+m.End-m.Start)
		if start >= end {
			continue
		}
		if offset, ok := l.File.Offset(start); ok && offset-m.Offset == start-l.Vaddr(m.Start) {
			backed = append(backed, Range{start, end})
		}
	}
	return backed
}

// firstOffset returns where the first segment starts in the file. Its mapping starts there, or at the start of that
// page.
func (f *File) firstOffset() uint64 {
	first := ^uint64(0)
	for _, s := range f.Segments {
		first = min(first, s.Offset)
	}
	return first
}

// Group combines mappings to loaded modules: those of one file with rising offsets. It ignores anonymous memory and
// files without an executable mapping. Mappings must be sorted, as the kernel lists them.
func Group(maps []Mapping) []Loaded {
	type key struct{ dev, inode uint64 }
	open := map[key]int{} // the group for the next mapping of a file
	var groups []Loaded
	for _, m := range maps {
		if !m.File() {
			continue
		}
		k := key{m.Dev, m.Inode}
		// Loaders map a file in rising order. A mapping with a lower offset belongs to another copy, except that a file
		// that fits in one page has all its segments at offset 0.
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

// executable returns the groups that contain code.
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

// Find returns the module that an address of the process belongs to, or nil.
func Find(mods []Loaded, addr uint64) *Loaded {
	for i := range mods {
		if mods[i].Contains(addr) {
			return &mods[i]
		}
	}
	return nil
}

// same reports whether two modules are the same one, at the same place.
func same(a, b *Loaded) bool {
	return a.Dev == b.Dev && a.Inode == b.Inode && a.Start() == b.Start() && a.File == b.File
}

// Added lists the modules of now that were not there before.
func Added(before, now []Loaded) []Loaded {
	var added []Loaded
	for i := range now {
		if !slices.ContainsFunc(before, func(m Loaded) bool { return same(&m, &now[i]) }) {
			added = append(added, now[i])
		}
	}
	return added
}

// BiasOf returns the bias of a file, by its path or, for another path, by its base name. ok is false when no module is
// that file.
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

// ErrNotMapped reports that no mapping of a module matches its program headers.
var ErrNotMapped = errors.New("no mapping fits the file")

// bias computes what was added to the addresses of a file. A mapping contains part of a segment with the same execute
// permission, and starts at a page boundary at or before it.
func (f *File) bias(maps []Mapping) (uint64, error) {
	// Executable mappings come first, because RELRO may change the others. A segment that
	// starts within a page shares it with the previous one; only the permission distinguishes them.
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

// cacheKey identifies a file and its state, because inode numbers are reused.
type cacheKey struct {
	dev, inode uint64
	size       int64
	mtime      unix.Timespec
	ctime      unix.Timespec
}

// Cache keeps Files that several processes map. It is safe for concurrent use. Files stay open until Close, so that
// processes that have ended can be reported.
type Cache struct {
	Fetch Fetcher // fetches debug files; nil: nothing is fetched. Set it before the first use

	mu    sync.Mutex
	files map[cacheKey]*File
}

// Load returns the modules of a process by address, each with its file and bias. Modules whose file cannot be read have
// Err set: mapped files that are not ELF, or that belong to other users.
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

// OpenPath opens a file of this mount namespace, or returns it from the cache. One below /proc/PID/root is the file
// that the process finds there, and has the name that it has for the process.
func (c *Cache) OpenPath(path string) (*File, error) {
	if root, inside, ok := procfs.InRoot(path); ok {
		return c.open(root, inside, root+inside)
	}
	return c.open("", path, path)
}

// OpenMapped opens the file of a loaded module, or returns it from the cache. It tries the mapping, which works for
// deleted files but needs privileges, then the program's link, then the path below the process's root directory, where
// the file must be the one that is mapped.
func (c *Cache) OpenMapped(pid int, l *Loaded) (*File, error) {
	pid = procfs.Living(pid)
	root := procfs.Root(pid)
	first := l.Mappings[0]
	link := fmt.Sprintf("/proc/%d/map_files/%x-%x", pid, first.Start, first.End)
	if f, err := c.open(root, l.Path, link); err == nil || !errors.Is(err, os.ErrPermission) && !errors.Is(err, os.ErrNotExist) {
		return f, err
	}
	// The program's link works without privileges, even when the file was deleted or replaced.
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

// IsInRoot reports whether a module is the file at an absolute path of its process, where that has another root
// directory than this one.
func IsInRoot(f *File, path string) bool {
	var st unix.Stat_t
	return f.Root != "" && filepath.IsAbs(path) && f.Inode != 0 && unix.Stat(f.Root+path, &st) == nil && f.Inode == st.Ino && f.Dev == st.Dev
}

// File systems where mapped files have other device or inode numbers than stat returns.
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
	switch uint32(fs.Type) { // 32 bits in all kernels
	case magicBtrfs:
		return st.Ino == l.Inode
	case magicOverlay:
		return st.Ino == l.Inode || !l.Deleted
	}
	return st.Dev == l.Dev && st.Ino == l.Inode
}

// open opens a file and caches it, unless the cache has the same one.
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
	f.debug.fetch = c.Fetch
	if f.Dev != uint64(st.Dev) || f.Inode != st.Ino { // it was replaced in between
		f.Close()
		return nil, fmt.Errorf("cannot open module %s: it was replaced while it was opened", display)
	}
	if c.files == nil {
		c.files = map[cacheKey]*File{}
	}
	c.files[keyOf(&st)] = f
	return f, nil
}

// keyOf returns the key of a file from the result of stat.
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

// ListChanged is the address of the function that a dynamic loader calls for debuggers before and after it changes its
// list of modules (r_brk of struct r_debug, System V ABI), by its names in glibc and musl. ok is false for what is no
// such loader.
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

// Files returns the files of modules in their order, each once, without those that could not be read.
func Files(mods []Loaded) []*File {
	var all []*File
	for i := range mods {
		if f := mods[i].File; f != nil && mods[i].Err == nil && !slices.Contains(all, f) {
			all = append(all, f)
		}
	}
	return all
}
