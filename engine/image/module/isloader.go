package module

import "path/filepath"

// IsLoader recognises dynamic loaders by the file names that all distributions use. Debian's musl has the loader in
// libc.so. Elsewhere a libc.so may be a C library without a loader.
func (m *Loaded) IsLoader() bool {
	base := filepath.Base(m.Path)
	if base == "libc.so" && m.File != nil && m.Err == nil {
		_, ok := m.ListChanged()
		return ok
	}
	for _, pattern := range []string{"ld-linux*.so*", "ld-*.so", "ld-musl-*.so*", "ld.so*", "ld64.so*", "libc.musl-*.so*"} {
		if ok, _ := filepath.Match(pattern, base); ok && m.File != nil && m.Err == nil {
			return true
		}
	}
	return false
}
