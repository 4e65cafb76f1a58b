package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"gotap"
	"gotap/cmd/gotap/status"
	"gotap/compile/diag"
	"gotap/engine/linux/procfs"
	"gotap/samples"
	"gotap/script/definition"
)

// isDefinition reports whether a text is a probe definition file, or was built from one.
func isDefinition(text gotap.Script) bool { return definition.Is(text.Name, text.Text) }

// readScript finds the text of a script: a file, "-" for standard input, the text of -e, or a sample's bare name.
func readScript(w *World, args []string, eval string, hasEval bool) (gotap.Script, error) {
	switch {
	case hasEval && len(args) > 0:
		return gotap.Script{}, status.Hinted(status.With(status.Usage, fmt.Errorf("there is a script already (-e), so %q is one too many", args[0])),
			extraHint(args[0]))

	case hasEval:
		return gotap.Script{Name: "-e", Text: eval}, nil
	case len(args) == 0:
		return gotap.Script{}, status.Hinted(status.With(status.Usage, errors.New("no script is given")),
			"gotap run SCRIPT -- COMMAND, or -e 'TEXT'; `gotap samples` lists the library")

	case len(args) > 1:
		return gotap.Script{}, status.Hinted(status.With(status.Usage, fmt.Errorf("one script at a time, so %q is one too many", args[1])),
			extraHint(args[0]))

	case args[0] == "-":
		text, err := diag.Read(w.Stdin)
		if err != nil {
			return gotap.Script{}, status.With(status.Usage, fmt.Errorf("cannot read the script from standard input: %w", err))
		}
		return unpack(gotap.Script{Name: "<stdin>", Text: withoutMark(text)})
	}
	return readFile(args[0])
}

// withoutMark removes the byte order mark that some editors put before UTF-8 text, so that columns are right.
func withoutMark(text []byte) string { return strings.TrimPrefix(string(text), "\ufeff") }

// readFile finds a script by its name, which may be that of a sample.
func readFile(path string) (gotap.Script, error) {
	text, err := diag.ReadFile(path)
	if err == nil {
		return unpack(gotap.Script{Name: path, Dir: filepath.Dir(path), Text: withoutMark(text)})
	}
	if filepath.Base(path) == path {
		if s, ok := samples.Find(path); ok {
			return gotap.Script{Name: s.File, Text: s.Text}, nil
		}
	}
	var p *os.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	err = status.With(status.Usage, fmt.Errorf("cannot read the script %s: %w", path, err))
	otherwise := ""
	if filepath.Base(path) == path && filepath.Ext(path) == "" {
		otherwise = "`gotap samples` lists the scripts that need no file"
	}
	if hint := nearSample(path, otherwise); hint != "" && errors.Is(err, os.ErrNotExist) {
		return gotap.Script{}, status.Hinted(err, hint)
	}
	return gotap.Script{}, err
}

// extraHint suggests what an extra argument may have been meant for: -p $(pidof NAME) becomes several arguments when
// there are several processes.
func extraHint(arg string) string {
	if _, err := procfs.ParsePid(arg); err == nil {
		return `several processes are one argument of -p: "$(pidof NAME)", or 12,34`
	}
	return "the program to trace and its arguments come after --"
}
