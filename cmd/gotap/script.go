package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"gotap/compile/diag"
	"gotap/samples"
)

// A scriptText is a script before it is loaded.
type scriptText struct {
	name string // as the user knows it
	dir  string // where its relative imports start
	text string
}

// readScript finds the text of a script: a file, "-" for standard input, the text of -e, or a sample's bare name.
func readScript(w *World, args []string, eval string, hasEval bool) (scriptText, error) {
	switch {
	case hasEval && len(args) > 0:
		return scriptText{}, &hintError{withStatus(statusUsage, fmt.Errorf("there is a script already (-e), so %q is one too many", args[0])),
			extraHint(args[0])}
	case hasEval:
		return scriptText{name: "-e", text: eval}, nil
	case len(args) == 0:
		return scriptText{}, &hintError{withStatus(statusUsage, errors.New("no script is given")),
			"gotap run SCRIPT -- COMMAND, or -e 'TEXT'; `gotap samples` lists the library"}
	case len(args) > 1:
		return scriptText{}, &hintError{withStatus(statusUsage, fmt.Errorf("one script at a time, so %q is one too many", args[1])),
			extraHint(args[0])}
	case args[0] == "-":
		text, err := diag.Read(w.Stdin)
		if err != nil {
			return scriptText{}, withStatus(statusUsage, fmt.Errorf("cannot read the script from standard input: %w", err))
		}
		return unpack(scriptText{name: "<stdin>", text: withoutMark(text)})
	}
	return readFile(args[0])
}

// withoutMark leaves out the byte order mark that some editors put in front of UTF-8 text: columns are counted behind it.
func withoutMark(text []byte) string { return strings.TrimPrefix(string(text), "\ufeff") }

// readFile finds a script by its name, which may be that of a sample.
func readFile(path string) (scriptText, error) {
	text, err := diag.ReadFile(path)
	if err == nil {
		return unpack(scriptText{name: path, dir: filepath.Dir(path), text: withoutMark(text)})
	}
	if filepath.Base(path) == path {
		if s, ok := samples.Find(path); ok {
			return scriptText{name: s.Name + ".js", text: s.Text}, nil
		}
	}
	var p *os.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	err = withStatus(statusUsage, fmt.Errorf("cannot read the script %s: %w", path, err))
	otherwise := ""
	if filepath.Base(path) == path && filepath.Ext(path) == "" {
		otherwise = "`gotap samples` lists the scripts that need no file"
	}
	if hint := nearSample(path, otherwise); hint != "" && errors.Is(err, os.ErrNotExist) {
		return scriptText{}, &hintError{err, hint}
	}
	return scriptText{}, err
}

// extraHint says what an argument that is no script may have been meant for: -p $(pidof NAME) gives several where there are several
// processes.
func extraHint(arg string) string {
	if _, err := parsePid(arg); err == nil {
		return `several processes are one argument of -p: "$(pidof NAME)", or 12,34`
	}
	return "the program to trace and its arguments come after --"
}
