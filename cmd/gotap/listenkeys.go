package main

import (
	"os"

	"gotap/cmd/gotap/keys"
	"gotap/cmd/gotap/terminal"
	"gotap/compile/diag"
)

// keyInput reads the keys of the user's terminal for a script with on("key").
type keyInput struct {
	reader *keys.Reader // nil: none are read
	file   *os.File     // of the reader
	opened bool         // file is not a standard stream
	noted  bool
}

// listen begins to read keys if the script wants them and they are not read yet. A script that is replaced may want
// them later.
func (k *keyInput) listen(r *run) {
	if k.reader != nil || !r.session.ListensToKeys() {
		return
	}
	f, why := k.terminal(r)
	if why != "" {
		if !k.noted {
			r.warnings(diag.List{{Severity: diag.Warning, Text: `no keys for on("key"): ` + why}})
		}
		k.noted = true
		return
	}
	reader, err := keys.Open(f, r.session.Key)
	if err != nil {
		r.complain(err)
		return
	}
	k.reader, k.file = reader, f
}

// terminal returns the terminal that keys come from, or why there is none: standard input, unless COMMAND has it, or
// else the terminal of the process.
func (k *keyInput) terminal(r *run) (f *os.File, why string) {
	isTerminal := terminal.Is(r.w.Stdin)
	switch {
	case r.plan.background:
		return nil, "a session in the background has no terminal"
	case r.plan.shown.Top():
		return nil, "they are those of the view of --top"
	case isTerminal && len(r.plan.command) > 0:
		return nil, "the terminal is the input of COMMAND; keys are read with -p, or if COMMAND has another input (</dev/null)"
	case isTerminal:
		return r.w.Stdin, ""
	}
	f, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return nil, "there is no terminal"
	}
	k.opened = true
	return f, ""
}

// close sets the terminal back.
func (k *keyInput) close() {
	if k.reader == nil {
		return
	}
	k.reader.Close()
	if k.opened {
		k.file.Close()
	}
	k.reader = nil
}
