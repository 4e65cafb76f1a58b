package samples

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"sort"
	"strings"
)

//go:embed *.js
var files embed.FS

// Sample is one script of the library.
type Sample struct {
	Name    string // without ".js": what `gotap run NAME` takes
	Purpose string // the first line of its header
	Text    string
}

// All is the library, by name.
func All() ([]Sample, error) {
	names, err := fs.Glob(files, "*.js")
	if err != nil {
		return nil, fmt.Errorf("cannot list the samples: %w", err)
	}
	sort.Strings(names)
	var all []Sample
	for _, name := range names {
		text, err := files.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("cannot read sample %s: %w", name, err)
		}
		all = append(all, Sample{strings.TrimSuffix(name, ".js"), purpose(string(text)), string(text)})
	}
	return all, nil
}

// Find is the sample of that name.
func Find(name string) (Sample, bool) {
	text, err := files.ReadFile(path.Clean(strings.TrimSuffix(name, ".js")) + ".js")
	if err != nil {
		return Sample{}, false
	}
	return Sample{strings.TrimSuffix(name, ".js"), purpose(string(text)), string(text)}, true
}

// purpose is what the first line of a script's header says: "// NAME: PURPOSE".
func purpose(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	if _, after, found := strings.Cut(line, ": "); found {
		return after
	}
	return strings.TrimSpace(strings.TrimPrefix(line, "//"))
}
