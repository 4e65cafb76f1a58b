package place

import (
	"strings"

	"gotap/engine/image/module"
	"gotap/engine/image/symtab"
)

// cutVersion splits the name of a function and a version of its symbol: memcpy@GLIBC_2.2.5, memcpy@@GLIBC_2.14. The
// version of the latter begins with the second sign.
func cutVersion(name string) (function, version string, ok bool) {
	function, version, ok = strings.Cut(name, "@")
	return function, version, ok && function != "" && strings.Trim(version, "@") != ""
}

// ofVersion returns the functions that a name with a version means. A name that has an @ of its own is found before.
func (s Spec) ofVersion(f *module.File) []symtab.Match {
	if function, version, ok := cutVersion(s.Name); ok {
		return f.VersionsOf(version).Lookup(function)
	}
	return nil
}

// orVersion returns the functions that FUNCTION@NAME means if no source file NAME has the function: then NAME is a
// version. A file of this name is preferred, because the notation for files is older. No version in use has the name of
// a source file.
func (s Spec) orVersion(f *module.File, missing error) ([]symtab.Match, error) {
	if found := f.VersionsOf(s.File).Lookup(s.Name); len(found) > 0 {
		return found, nil
	}
	return nil, missing
}
