package place

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"gotap/engine/image/module"
	"gotap/engine/image/symname"
	"gotap/engine/linux/procfs"
)

// MatchModule reports whether the module part of a specification matches a file. An empty one matches any. With a slash
// it is a path, which may lead through symbolic links, or a pattern of paths. Without a slash it is a file name, the
// name of a library without its suffix, or a pattern of either: "libc" matches libc.so.6 and libc-2.31.so, "lib[cm]"
// libm.so.6, too, and "libstdc++.so" and "libstdc++.so.6" match libstdc++.so.6.0.30.
func MatchModule(pattern, path string) bool {
	if root, inside, ok := procfs.InRoot(pattern); ok && pattern != path { // the process's links count
		return samePath(root+inside, path) || symname.IsGlob(inside) && symname.Glob(inside, path)
	}
	base := filepath.Base(path)
	switch {
	case pattern == "" || pattern == path || pattern == base:
		return true
	case strings.Contains(pattern, "/"):
		return samePath(pattern, path) || symname.IsGlob(pattern) && symname.Glob(pattern, path)
	case symname.IsGlob(pattern):
		isMeant := func(name string) bool { return symname.Glob(pattern, name) }
		return isMeant(base) || slices.ContainsFunc(libraryNames(base), isMeant)
	}
	return isLibrary(pattern, base)
}

// libraryNames returns the names of a library without ".so" and everything behind, and without a version before it; nil
// for other files.
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

// samePath reports whether two paths lead to one file, through symbolic links or hard links.
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

// fileAt returns a function that reports whether a module is the file at a path, whatever its process calls it. In a
// container the root directory differs: the path may be what the process sees, or lead to its file below
// /proc/PID/root.
func fileAt(path string) func(*module.File) bool {
	root, inside, rooted := procfs.InRoot(path)
	if rooted {
		path = root + inside
	}
	var st syscall.Stat_t
	switch {
	case !strings.Contains(path, "/"):
		return func(*module.File) bool { return false }
	case syscall.Stat(path, &st) != nil:
		return func(f *module.File) bool { return module.IsInRoot(f, path) }
	}
	return func(f *module.File) bool {
		if module.IsInRoot(f, path) {
			return true
		}
		return f.Inode != 0 && f.Inode == st.Ino && f.Dev == uint64(st.Dev) || rooted && inside == f.Path && sameBuild(path, f)
	}
}

// sameBuild reports whether a path leads to a file with the build ID of a module. On overlay file systems, which
// containers use, a mapped file has other device and inode numbers than stat returns.
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
	if stem, version, so := strings.Cut(name, ".so"); so { // a prefix of the version is enough
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
