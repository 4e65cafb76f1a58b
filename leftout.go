package gotap

import (
	"errors"

	"gotap/engine/link"
	"gotap/engine/place"
	"gotap/script/output"
)

// leftOut is a probe that could not be placed and that the session does without. Queries show it.
type leftOut struct {
	script string // the inserted script that it is of
	name   string
	state  string
	why    string
	codes  *output.Codes
	id     uint32 // of the probe that waits for the place to appear; 0: there is none
}

// leftOutState returns the state that queries show for an error about a place; "" for other errors.
func leftOutState(err error) string {
	var mismatch *link.MismatchError
	var offset *place.OffsetError
	var refused *place.RefusedError
	switch {
	case errors.As(err, &mismatch):
		return "mismatch"
	case errors.As(err, &offset):
		return "invalid offset"
	case errors.As(err, &refused):
		return "excluded"
	case isMissing(err):
		return "missing"
	}
	return ""
}

// isLeftOut reports whether a session can do without a probe that has this error.
func isLeftOut(err error) bool { return leftOutState(err) != "" }

// leftOutOf describes a probe that is not placed.
func leftOutOf(script string, d declaration, err error) leftOut {
	out := leftOut{script: script, state: leftOutState(err), why: err.Error()}
	switch p := d.(type) {
	case scriptProbe:
		out.name = p.Name
	case definedProbe:
		out.name, out.codes = p.Name, p.codes()
	}
	return out
}

// waitsFor returns why a probe waits for its place; nil when it does not wait.
func (s *Session) waitsFor(id uint32) *leftOut {
	for i := range s.leftOut {
		if o := &s.leftOut[i]; o.id != 0 && o.id == id {
			return o
		}
	}
	return nil
}

// codes returns the numbers that the definition file gives the probe.
func (p definedProbe) codes() *output.Codes {
	return &output.Codes{Major: uint64(p.Major), Minor: uint64(p.Minor), Group: p.Group, Type: p.Type}
}
