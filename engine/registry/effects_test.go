package registry

import (
	"errors"
	"testing"

	"gotap/engine/place"
)

// A restriction is idle once it was tried, until it has had an effect. Similar names that were found once are kept.
func TestEffects(t *testing.T) {
	var e Effects
	left, from := LeftOut(place.Spec{Name: "wrok"}), Restriction{From: true, Text: "wrok"}
	check := func(r Restriction, wantHint string, want bool) {
		t.Helper()
		if hint, idle := e.Idle(r); hint != wantHint || idle != want {
			t.Errorf("%+v: idle %v, hint %q", r, idle, hint)
		}
	}
	check(left, "", false)
	if !e.Open(left) {
		t.Error("not open at first")
	}
	check(left, "", true)
	check(from, "", false)
	e.Missed(left, &place.NotFoundError{Suggestions: []string{"work"}})
	e.Missed(left, &place.NotFoundError{})
	e.Missed(left, errors.New("unreadable"))
	check(left, "did you mean work?", true)
	e.Missed(from, &place.NotFoundError{What: place.NoModule, Searched: []string{"/bin/prog"}})
	e.Missed(from, &place.NotFoundError{What: place.NoModule, Searched: []string{"/bin/prog", "/lib/libc.so"}})
	check(from, "there are prog, libc.so", true)
	e.Had(left)
	check(left, "", false)
	if e.Open(left) {
		t.Error("open after it had an effect")
	}
	var none *Effects
	none.Had(left)
	none.Missed(left, &place.NotFoundError{})
	if none.Open(left) {
		t.Error("open where nothing is recorded")
	}
}
