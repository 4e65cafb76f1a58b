package place

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"gotap/engine/module"
)

// MatchModule reports whether the module part of a specification means a file. No part means any. With a slash it is a
// path, which may go over symbolic links, or a pattern of paths. Without, it is a file name, the name of a library without what
// follows, or a pattern of either: "libc" means libc.so.6 and libc-2.31.so, "lib[cm]" libm.so.6 as well, "libstdc++.so" and
// "libstdc++.so.6" mean libstdc++.so.6.0.30.
func MatchModule(pattern, path string) bool {
	base := filepath.Base(path)
	switch {
	case pattern == "" || pattern == path || pattern == base:
		return true
	case strings.Contains(pattern, "/"):
		return samePath(pattern, path) || module.IsGlob(pattern) && module.Glob(pattern, path)
	case module.IsGlob(pattern):
		isMeant := func(name string) bool { return module.Glob(pattern, name) }
		return isMeant(base) || slices.ContainsFunc(libraryNames(base), isMeant)
	}
	return isLibrary(pattern, base)
}

// libraryNames are the names of a library without ".so" and what follows, and without a version before it; none for other files.
func libraryNames(base string) []string {
	stem, _, so := strings.Cut(base, ".so")
	if !so || !isLibrary(stem, base) {
		return nil
	}
	if i := strings.LastIndexByte(stem, '-'); i > 0 && isVersion(stem[i:], '-') {
		return []string{stem, stem[:i]}
	}
	return []string{stem}
}

// samePath reports whether two paths lead to one file: over symbolic links, or as two names that it has.
func samePath(a, b string) bool {
	if abs, err := filepath.Abs(a); err == nil && abs == filepath.Clean(b) {
		return true
	}
	infoA, err := os.Stat(a)
	if err != nil {
		return false
	}
	infoB, err := os.Stat(b)
	return err == nil && os.SameFile(infoA, infoB)
}

// fileAt returns a function that reports whether a module is the file that a path leads to from here, whatever the module's process
// calls it: that of a container has another root, and its files are below /proc/PID/root.
func fileAt(path string) func(*module.File) bool {
	var st syscall.Stat_t
	if !strings.Contains(path, "/") || syscall.Stat(path, &st) != nil {
		return func(*module.File) bool { return false }
	}
	inRoot := rootedPath.FindStringSubmatch(path)
	return func(f *module.File) bool {
		return f.Inode != 0 && f.Inode == st.Ino && f.Dev == uint64(st.Dev) || inRoot != nil && inRoot[1] == f.Path && sameBuild(path, f)
	}
}

// rootedPath is a path below the root directory of a process.
var rootedPath = regexp.MustCompile(`^/proc/[^/]+/root(/.*)$`)

// sameBuild reports whether a path leads to a file with the build-id of a module. On an overlay, as containers have it, a mapped file
// has other numbers than stat tells.
func sameBuild(path string, f *module.File) bool {
	other, err := module.Open(path)
	if err != nil {
		return false
	}
	defer other.Close()
	return other.BuildID != "" && other.BuildID == f.BuildID
}

// isLibrary reports whether a file name is that of a library: the name, a version, ".so", a version.
func isLibrary(name, base string) bool {
	rest, ok := strings.CutPrefix(base, name)
	if !ok {
		return false
	}
	if stem, version, so := strings.Cut(name, ".so"); so { // of the versions the first ones may be given
		return stem != "" && (version == "" || isVersion(version, '.')) && isVersion(rest, '.')
	}
	before, after, ok := strings.Cut(rest, ".so")
	return ok && (before == "" || isVersion(before, '-')) && (after == "" || isVersion(after, '.'))
}

// isVersion reports whether a text is a version behind a separator: ".6", "-2.31".
func isVersion(text string, separator byte) bool {
	if len(text) < 2 || text[0] != separator || text[1] < '0' || text[1] > '9' {
		return false
	}
	return strings.Trim(text[1:], "0123456789.") == ""
}
