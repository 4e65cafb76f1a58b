package main

import (
	"errors"

	"gotap/cmd/gotap/wire"
	"gotap/engine/place"
)

// leftOut is a probe that could not be placed and was not wanted at any price: a query tells of it.
type leftOut struct {
	script string // set for what was inserted
	name   string
	state  string
	why    string
	codes  *wire.Codes
	id     uint32 // of the probe that waits for the place to appear; 0: there is none
}

// leftOutState is the word of a query for an error about a place; "" for errors that are about something else.
func leftOutState(err error) string {
	var mismatch *mismatchError
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

// isLeftOut reports an error with which a run can do without the probe.
func isLeftOut(err error) bool { return leftOutState(err) != "" }

// leaveOut notes a probe that is not placed. Before the run has begun, or under run.change.
func (r *run) leaveOut(script string, d declaration, err error) {
	r.leftOut = append(r.leftOut, leftOutOf(script, d, err))
}

// leftOutOf is the note about a probe that is not placed.
func leftOutOf(script string, d declaration, err error) leftOut {
	out := leftOut{script: script, state: leftOutState(err), why: err.Error()}
	switch p := d.(type) {
	case scriptProbe:
		out.name = p.Name
	case *definedProbe:
		out.name, out.codes = p.name, p.codes()
	}
	return out
}

// waitsFor is why a probe waits for its place, nil for probes that need not.
func (r *run) waitsFor(id uint32) *leftOut {
	for i := range r.leftOut {
		if o := &r.leftOut[i]; o.id != 0 && o.id == id {
			return o
		}
	}
	return nil
}

// codes are the probe's numbers as a query tells them.
func (p *definedProbe) codes() *wire.Codes {
	return &wire.Codes{Major: p.Major, Minor: p.Minor, Group: p.Group, Type: p.Type}
}
