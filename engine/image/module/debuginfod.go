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

// byCache tries the file for the build ID that a client of debuginfod has fetched. Nothing is fetched here. A file of no bytes, which
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
