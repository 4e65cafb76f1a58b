package module

import (
	"os"
	"path/filepath"
)

// cacheRoots returns where clients of debuginfod keep the files that they have fetched, the first to be used first
// (debuginfod-client-config(7)). It is empty when nothing in the environment says where.
func cacheRoots() (roots []string) {
	if dir := os.Getenv("DEBUGINFOD_CACHE_PATH"); dir != "" {
		return []string{dir}
	}
	home := os.Getenv("HOME")
	if home != "" {
		roots = append(roots, filepath.Join(home, ".debuginfod_client_cache")) // its place before elfutils 0.180
	}
	cache := os.Getenv("XDG_CACHE_HOME")
	if cache == "" && home != "" {
		cache = filepath.Join(home, ".cache")
	}
	if cache != "" {
		roots = append(roots, filepath.Join(cache, "debuginfod_client"))
	}
	return roots
}

// FetchedTo returns the folder in which clients of debuginfod keep what they fetch; "" when nothing in the environment
// says where.
func FetchedTo() string {
	roots := cacheRoots()
	if len(roots) > 1 {
		if _, err := os.Stat(roots[0]); err != nil {
			return roots[1]
		}
	}
	if len(roots) > 0 {
		return roots[0]
	}
	return ""
}

// Fetcher fetches the debug file of a file, and returns its path, or "".
type Fetcher func(f *File) string

// byFetch fetches the debug file, where the user has asked for that.
func (f debugSearch) byFetch() *File {
	if f.debug.fetch == nil {
		return nil
	}
	path := f.debug.fetch(f.File)
	if path == "" {
		return nil
	}
	return f.try(path, func(d *File) bool { return d.BuildID == f.BuildID })
}

// byCache tries the file for the build ID that a client of debuginfod has fetched. A file of no bytes, which
// stands for an answer that no server has it, is no ELF file and is refused.
func (f debugSearch) byCache() *File {
	if len(f.BuildID) < 4 {
		return nil
	}
	for _, root := range cacheRoots() {
		path := filepath.Join(root, f.BuildID, "debuginfo")
		if d := f.try(path, func(d *File) bool { return d.BuildID == f.BuildID }); d != nil {
			return d
		}
	}
	return nil
}
