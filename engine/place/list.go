package place

import (
	"strings"

	"gotap/engine/image/module"
)

// Listed is one line of a listing: a place in the syntax of specifications, and its target.
type Listed struct {
	Text   string // "/usr/lib/libc.so.6:malloc", "usdt:acc:hello"
	Target Target
}

// List returns the places that a specification stands for in a module. Unlike Resolve it returns every name of a
// function that a pattern matches, and C++ functions with their parameters, so that each line is a specification. A
// mark in several places is one line for each distinct text.
func (r *Resolver) List(s Spec, f *module.File) ([]Listed, error) {
	if s.Kind == Function && !s.Every && !s.HasOff && s.File == "" && !s.Relative {
		return r.listNames(s, f)
	}
	targets, err := r.Resolve(s, f)
	var lines []Listed
	seen := map[string]bool{}
	for _, t := range targets {
		text := t.Name // for marks: without a module
		switch s.Kind {
		case Function:
			if text = f.Path + ":" + t.local(); s.File != "" && !s.Relative {
				text += "@" + s.File
			} else if s.Relative {
				text = t.inFile()
			}
		case Line:
			text = t.inFile()
		case Address:
			s.Module = f.Path
			text = s.String()
		case Watch:
			text = s.String()
		}
		if !seen[text] {
			seen[text] = true
			lines = append(lines, Listed{text, t})
		}
	}
	return lines, err
}

// inFile is the name of a target with the whole path of its file.
func (t Target) inFile() string {
	_, local, _ := strings.Cut(t.Name, ":")
	return t.File.Path + ":" + local
}

// listNames lists functions by name.
func (r *Resolver) listNames(s Spec, f *module.File) ([]Listed, error) {
	var lines []Listed
	seen := map[string]bool{}
	for _, m := range s.names(f) {
		name := f.WithVersion(m.Name, m.Func) // without it the line would mean other functions, too
		if seen[name] {
			continue
		}
		seen[name] = true
		lines = append(lines, Listed{f.Path + ":" + name, entryOf(f, m)})
	}
	if len(lines) == 0 {
		return nil, r.noFunction(s, f)
	}
	return lines, nil
}
