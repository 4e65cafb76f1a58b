package load

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"gotap/compile/spelling"
)

// MissingError is the error of an unknown module.
type MissingError struct {
	text string
	Hint string // a module with a similar name, or empty
}

func (e *MissingError) Error() string { return e.text }

// missingExports are esbuild's messages about exports that a module does not have, with the groups that name the module
// and the export.
var missingExports = []struct {
	pattern      *regexp.Regexp
	module, name int
}{
	{regexp.MustCompile(`^No matching export in "(.+)" for import "(.+)"$`), 1, 2},
	{regexp.MustCompile(`^Import "(.+)" will always be undefined because there is no matching export in "(.+)"$`), 2, 1},
}

// Patterns for the names that a module exports. Hints do not need exports written in other ways.
var (
	exportedName = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)(?:^|;[ \t]*)export\s+(?:async\s+|declare\s+|abstract\s+)*(?:function\s*\*?|const\s+enum|const|let|var|class|enum|namespace)\s+([\p{L}_$][\p{L}\p{N}_$]*)`)
	})
	exportList = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\bexport\s*\{([^}]*)\}`) })
)

// nearExport returns a hint at what a module exports.
func nearExport(name, text string) string {
	var known []string
	for _, m := range exportedName().FindAllStringSubmatch(text, -1) {
		known = append(known, m[1])
	}
	for _, m := range exportList().FindAllStringSubmatch(text, -1) {
		for part := range strings.SplitSeq(m[1], ",") {
			if words := strings.Fields(part); len(words) > 0 {
				known = append(known, words[len(words)-1])
			}
		}
	}
	known = slices.DeleteFunc(known, func(n string) bool { return n == "default" })
	if near := nearest(name, known); near != "" {
		return "did you mean " + near + "?"
	}
	if len(known) == 0 || len(known) > mostListed {
		return ""
	}
	return "it has " + strings.Join(known, ", ")
}

// mostListed is the maximum number of exports in a hint.
const mostListed = 24

// nearFile returns a hint at a file with a name similar to the missing one.
func nearFile(asked, path string) string {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return ""
	}
	var known []string
	for _, e := range entries {
		ext := filepath.Ext(e.Name())
		if e.IsDir() || ext == "" || !slices.Contains(moduleKinds, ext) {
			continue
		}
		name := e.Name()
		if filepath.Ext(path) == "" {
			name = strings.TrimSuffix(name, ext)
		}
		known = append(known, name)
	}
	base := filepath.Base(path)
	if near := nearest(base, known); near != "" {
		return "did you mean " + strings.TrimSuffix(asked, base) + near + "?"
	}
	return ""
}

// nearest returns the known name that differs from a name by a few typing errors, or "".
func nearest(name string, known []string) string {
	best, limit := "", min(len(name)/3+1, len(name)-1)
	for _, k := range known {
		if d := spelling.Distance(strings.ToLower(name), strings.ToLower(k), limit); d <= limit {
			best, limit = k, d-1
		}
	}
	return best
}
