package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"gotap/cmd/gotap/terminal"
	"gotap/compile/diag"
	"gotap/script/output"
)

// World is a command's arguments and streams. Tests make their own. The streams are files because a traced program
// inherits them.
type World struct {
	Args    []string // without the program's name
	Stdin   *os.File
	Stdout  *os.File
	Stderr  *os.File
	control *os.File // the supervisor's pipe, in a session

	background *os.File // in a background session and its supervisor: the pipe on which it reports that it is ready
}

// Main runs one command line and returns its exit status.
func Main(w World) int {
	w, err := w.enterSession()
	if err == nil {
		w, err = w.enterBackground()
	}
	if err == nil {
		err = w.dispatch()
	}
	report(w.Stderr, err)
	return statusOf(err)
}

// dispatch runs the command, or the part for which gotap has started itself.
func (w World) dispatch() error {
	if lasts, ok := demoOf(w.Args); ok {
		return withStatus(statusFailure, runDemo(lasts))
	}
	root := newRoot(&w)
	root.SetArgs(w.Args)
	return explainCommand(root, root.Execute())
}

// stuck ends a command without a target when its script cannot be interrupted.
func (w *World) stuck(status int) func(error) {
	return func(err error) {
		report(w.Stderr, err)
		os.Exit(status)
	}
}

// out is standard output for text with names from targets and files.
func (w *World) out() io.Writer { return diag.Escaper{W: w.Stdout} }

// errs is standard error for such text.
func (w *World) errs() io.Writer { return diag.Escaper{W: w.Stderr} }

// report prints an error on a line that begins with "gotap: ", and its hint below. A diagnostic has its own form.
func report(to io.Writer, err error) {
	var s *statusError
	if err == nil || errors.As(err, &s) && s.cause == nil {
		return
	}
	var found diag.List
	if errors.As(err, &found) {
		if f, ok := to.(*os.File); ok && terminal.Coloured(f) {
			fmt.Fprint(to, output.Paint(found...))
			return
		}
		fmt.Fprintln(to, found.Error())
		return
	}
	fmt.Fprintf(to, "gotap: %s\n", diag.Escape(err.Error()))
	if hint := hintOf(err); hint != "" {
		fmt.Fprintf(to, "hint: %s\n", diag.Escape(hint))
	}
}
