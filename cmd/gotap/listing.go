package main

import (
	"encoding/hex"
	"fmt"
	"path/filepath"

	"gotap"
	"gotap/cmd/gotap/status"
)

// isListing reports whether a text is what `gotap dis` printed. check and dis take it, to show that a listing is the
// whole program; it is not run, because a listing does not say where its programs belong.
func isListing(text gotap.Script) bool { return filepath.Ext(text.Name) == ".rpn" }

// readProgram finds the text of what is to run: a script or definitions, but no listing.
func readProgram(w *World, args []string, eval string, hasEval bool) (gotap.Script, error) {
	text, err := readScript(w, args, eval, hasEval)
	if err == nil && isListing(text) {
		err = status.With(status.Usage, status.Hinted(fmt.Errorf("%s is a listing, which does not say where its programs belong", text.Name),
			"give the script or definition file that it was made of; gotap check and gotap dis take listings"))
	}
	return text, err
}

// printBytes writes the bytes of each program, as prebuilt files hold them, in hexadecimal digits.
func printBytes(w *World, t *gotap.Checked) error {
	for _, p := range t.Programs {
		data, err := p.MarshalBinary()
		if err == nil {
			_, err = fmt.Fprintf(w.out(), "%s: %s\n", p.Name, hex.EncodeToString(data))
		}
		if err != nil {
			return status.With(status.Failure, fmt.Errorf("cannot write the bytes: %w", err))
		}
	}
	return nil
}
