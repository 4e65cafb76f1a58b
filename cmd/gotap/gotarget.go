package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"gotap/engine/image/module"
	"gotap/samples"
)

// This file has samples that are given no functions take those of package main where the target is a Go program: it
// has thousands of functions of the runtime and of other packages.

// ofGo adds to the options what a sample takes of Go programs, unless it is given, and says so.
func (o *runOptions) ofGo(w *World, s samples.Sample, command []string) {
	added := o.lacking(strings.Fields(s.Go))
	if len(added) == 0 {
		return
	}
	program := o.goProgram(w, command)
	if program == "" {
		return
	}
	o.args = append(o.args, added...)
	if !o.quiet {
		_, functions, _ := strings.Cut(added[0], "=")
		fmt.Fprintf(w.errs(), "gotap: %s is a Go program: where no functions are given, those of its package main are taken, %s\n", program, functions)
	}
}

// lacking returns those of the options NAME=VALUE that are not given; none if an option is given that excludes them, !NAME.
func (o *runOptions) lacking(options []string) (lack []string) {
	for _, option := range options {
		name, isOther := strings.CutPrefix(option, "!")
		switch given := o.given(name); {
		case isOther && given:
			return nil
		case !isOther && !given:
			lack = append(lack, option)
		}
	}
	return lack
}

// given reports whether an option of the script, NAME or NAME=VALUE, is among the arguments.
func (o *runOptions) given(option string) bool {
	name, _, _ := strings.Cut(option, "=")
	return slices.ContainsFunc(o.args, func(arg string) bool { return strings.HasPrefix(arg, name+"=") })
}

// goProgram returns the name of the target if it is a Go program, and "" otherwise.
func (o *runOptions) goProgram(w *World, command []string) string {
	var paths []string
	if len(command) > 0 {
		path, err := exec.LookPath(command[0])
		if err != nil {
			return "" // starting it fails
		}
		paths = []string{path}
	}
	for _, list := range o.pids {
		for _, text := range pidTexts(list) {
			pids, _ := w.processes(text) // an error is reported when the process is attached to
			for _, pid := range pids {
				paths = append(paths, fmt.Sprintf("/proc/%d/exe", pid))
			}
		}
	}
	for _, path := range paths {
		if f, err := module.Open(path); err == nil {
			isGo := f.IsGo()
			f.Close()
			if isGo {
				return nameOf(path)
			}
		}
	}
	return ""
}

// nameOf returns the name of a program's file, which may be a link of /proc.
func nameOf(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	return filepath.Base(path)
}
