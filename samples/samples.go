package samples

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

//go:embed *.js *.dpdf
var files embed.FS

// Sample is one script of the library.
type Sample struct {
	Name    string // the argument of `gotap run NAME`
	File    string // its name with the ending, which tells a script (.js) from a definition file (.dpdf)
	Purpose string // the first line of its header
	Topic   string // one of Topics
	Text    string
	Demo    string // NAME=VALUE, separated by blanks: its options where gotap's demonstration is the target
	Go      string // the same where the target is a Go program; !NAME: not with this option
}

// Topics are the topics of samples, in the order of the catalogue.
func Topics() []string {
	return []string{"start", "functions", "memory", "threads", "files and system calls", "network", "languages and databases",
		"the whole process", "changing the target", "kernels"}
}

// All returns the library, ordered by topic and then by name.
func All() ([]Sample, error) {
	names, err := fs.Glob(files, "*.*")
	if err != nil {
		return nil, fmt.Errorf("cannot list the samples: %w", err)
	}
	var all []Sample
	for _, name := range names {
		text, err := files.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("cannot read sample %s: %w", name, err)
		}
		all = append(all, read(name, string(text)))
	}
	topics := Topics()
	slices.SortFunc(all, func(a, b Sample) int {
		if d := slices.Index(topics, a.Topic) - slices.Index(topics, b.Topic); d != 0 {
			return d
		}
		return strings.Compare(a.Name, b.Name)
	})
	return all, nil
}

// Find returns the sample with that name.
func Find(name string) (Sample, bool) {
	name = path.Clean(name)
	for _, file := range []string{name, name + ".js", name + ".dpdf"} {
		if text, err := files.ReadFile(file); err == nil {
			return read(file, string(text)), true
		}
	}
	return Sample{}, false
}

// read reads the catalogue entry from a script's first lines: "// NAME: PURPOSE", "// topic: TOPIC", and perhaps
// "// demonstration: NAME=VALUE…" and "// Go: NAME=VALUE…".
func read(file, text string) Sample {
	first, rest, _ := strings.Cut(text, "\n")
	second, rest, _ := strings.Cut(rest, "\n")
	s := Sample{Name: strings.TrimSuffix(file, path.Ext(file)), File: file, Text: text}
	_, s.Purpose, _ = strings.Cut(first, ": ")
	s.Topic, _ = strings.CutPrefix(second, "// topic: ")
	for line := range strings.Lines(rest) {
		what, options, ok := strings.Cut(strings.TrimSpace(line), ": ")
		switch {
		case !ok:
			return s
		case what == "// demonstration":
			s.Demo = options
		case what == "// Go":
			s.Go = options
		}
	}
	return s
}
