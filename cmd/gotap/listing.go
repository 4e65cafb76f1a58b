package main

import (
	"encoding/hex"
	"fmt"
	"path/filepath"

	"gotap"
	"gotap/compile"
	"gotap/compile/diag"
)

// isListing reports whether a text is what `gotap dis` printed. check and dis take it, to show that a listing is the
// whole program; it is not run, because a listing does not say where its programs belong.
func isListing(text gotap.Script) bool { return filepath.Ext(text.Name) == ".rpn" }

// readProgram finds the text of what is to run: a script or definitions, but no listing.
func readProgram(w *World, args []string, eval string, hasEval bool) (gotap.Script, error) {
	text, err := readScript(w, args, eval, hasEval)
	if err == nil && isListing(text) {
		err = withStatus(statusUsage, &hintError{fmt.Errorf("%s is a listing, which does not say where its programs belong", text.Name),
			"give the script or definition file that it was made of; gotap check and gotap dis take listings"})
	}
	return text, err
}

// loadListing assembles and verifies the programs of a listing.
func loadListing(text gotap.Script) (*checkedText, diag.List, error) {
	programs, list := compile.AssembleAll(diag.NewSource(text.Name, text.Text))
	if err := list.Err(); err != nil {
		return nil, nil, err
	}
	t := &checkedText{inputs: []string{text.Name}, close: func() {}}
	for _, p := range programs {
		list = append(list, compile.Verify(p)...)
		t.programs = append(t.programs, checked{p.Name, p})
	}
	return t, list, list.Err()
}

// printBytes writes the bytes of each program, as prebuilt files hold them, in hexadecimal digits.
func printBytes(w *World, t *checkedText) error {
	for _, p := range t.programs {
		data, err := p.program.MarshalBinary()
		if err == nil {
			_, err = fmt.Fprintf(w.out(), "%s: %s\n", p.program.Name, hex.EncodeToString(data))
		}
		if err != nil {
			return withStatus(statusFailure, fmt.Errorf("cannot write the bytes: %w", err))
		}
	}
	return nil
}
