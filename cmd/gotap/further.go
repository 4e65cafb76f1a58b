package main

import (
	"path/filepath"
	"slices"
	"strings"

	"gotap"
	"gotap/cmd/gotap/status"
)

// scriptEndings are those of files that can be a further script of a run.
var scriptEndings = []string{".js", ".ts", ".mjs", ".mts", ".dpdf", ".ppdf"}

// takeFurther keeps the scripts behind the first for the session, and returns the arguments without them. Words that
// are not all names of scripts mean something else.
func (o *runOptions) takeFurther(own []string) []string {
	isScript := func(arg string) bool { return slices.Contains(scriptEndings, filepath.Ext(arg)) }
	if len(own) < 2 || slices.ContainsFunc(own[1:], func(arg string) bool { return !isScript(arg) }) {
		return own
	}
	o.further = own[1:]
	return own[:1]
}

// hasDefinition reports whether a definition file is among the further scripts.
func (o *runOptions) hasDefinition() bool {
	return slices.ContainsFunc(o.further, func(path string) bool { return strings.HasSuffix(path, "pdf") })
}

// joinFurther has the further scripts join the session before its targets go on. Options of scripts (--arg) are for the
// first alone, those of definition files for all of them.
func (r *run) joinFurther() error {
	for _, path := range r.plan.further {
		text, err := readProgram(r.w, []string{path}, "", false)
		if err != nil {
			return err
		}
		in := gotap.Insertion{Script: text}
		if in.Path, err = filepath.Abs(path); err != nil {
			return status.With(status.Failure, err)
		}
		if isDefinition(text) {
			options := r.plan.definition
			in.Definition = &options
		}
		notes, err := r.session.Control().Insert(in)
		if err != nil {
			return err
		}
		for _, note := range notes {
			r.note("%s", strings.TrimSpace(note))
		}
	}
	return nil
}
