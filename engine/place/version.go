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

// orVersion returns the functions of FUNCTION@NAME where NAME is no file with the function: those of a version. So the
// names of files come first, which were there first; versions with the name of a file are not in use.
func (s Spec) orVersion(f *module.File, missing error) ([]symtab.Match, error) {
	if found := f.VersionsOf(s.File).Lookup(s.Name); len(found) > 0 {
		return found, nil
	}
	return nil, missing
}
