package main

import (
	"io"
	"os"

	"gotap/cmd/gotap/demo"
	"gotap/cmd/gotap/status"
	"gotap/cmd/gotap/terminal"
	"gotap/compile/diag"
)

// World is a command's arguments and streams. Tests make their own. The streams are files because a traced program
// inherits them.
type World struct {
	Args    []string // without the program's name
	Stdin   *os.File
	Stdout  *os.File
	Stderr  *os.File
	control *os.File // the supervisor's pipe, in a session

	fetches    bool     // --debuginfod
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
	status.Print(w.Stderr, err)
	return status.Of(err)
}

// dispatch runs the command, or the part for which gotap has started itself.
func (w World) dispatch() error {
	if lasts, ok := demo.Of(w.Args); ok {
		return status.With(status.Failure, demo.Run(lasts))
	}
	root := newRoot(&w)
	root.SetArgs(implied(w.Args))
	return explainCommand(root, root.Execute())
}

// stuck ends a command without a target when its script cannot be interrupted.
func (w *World) stuck(code int) func(error) {
	return func(err error) {
		status.Print(w.Stderr, err)
		os.Exit(code)
	}
}

// out is standard output for text with names from targets and files.
func (w *World) out() io.Writer { return diag.Escaper{W: w.Stdout} }

// errs is standard error for such text.
func (w *World) errs() io.Writer { return diag.Escaper{W: w.Stderr} }

// errColumns is the width of the terminal that standard error is, 0 when it is none.
func (w *World) errColumns() int { return terminal.Columns(w.Stderr) }
