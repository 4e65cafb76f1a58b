package compiler

import (
	"strings"
	"testing"

	"gotap/compile/diag"
	"gotap/runtime/object"
	"gotap/runtime/snapshot"
)

// Aggregations and maps keep floats: c.arg0 / 4.0 has a fraction. A whole number remains an integer until a float
// comes.
func TestFloatsAreKept(t *testing.T) {
	r := newRig(t)
	scope := r.declare(map[string]object.Object{"s": {Kind: object.KindSum, Keys: 1}, "a": {Kind: object.KindAvg}, "t": {Kind: object.KindStats},
		"lo": {Kind: object.KindMin}, "hi": {Kind: object.KindMax}, "h": {Kind: object.KindHist}, "m": {Kind: object.KindMap, Keys: 1}})
	got := r.logged(`c => {
		const x = c.arg0 / 4.0;
		s.at("x").add(x); s.at("x").add(1); s.at("n").add(2.0); a.add(x); a.add(x * 2); t.add(x); lo.add(-x); hi.add(x); h.add(x); h.add(-0.5);
		m.set("n", 3); m.set("x", x); m.set("y", m.get("x") + m.get("n")); log(m.get("y"), m.get("none") ?? 0.5, m.has("x"));
	}`, scope, 3)
	if want := "3.75 0.5 true"; strings.Join(got, "|") != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for name, want := range map[string]string{"s": "@s[x]: 1.75\n@s[n]: 2\n", "a": "@a: 1.125\n\n", "lo": "@lo: -0.75\n", "hi": "@hi: 0.75\n",
		"m": "@m[x]: 0.75\n@m[n]: 3\n@m[y]: 3.75\n", "t": "@t: count 1, average 0.75, total 0.75\n\n"} {
		var b strings.Builder
		r.arena.Handle(scope[name].Object).Entries().Print(&b, snapshot.Options{})
		if b.String() != want {
			t.Errorf("got %q, want %q", b.String(), want)
		}
	}
	if got := r.dump(scope, "h"); got != "=2/0/2" {
		t.Error(got)
	}
}

// A map has one type of numbers in all programs.
func TestMapOfOneTypeOfNumbers(t *testing.T) {
	r := newRig(t)
	scope := r.declare(map[string]object.Object{"n": {Kind: object.KindMap, Keys: 1}, "x": {Kind: object.KindMap, Keys: 1}})
	r.logged(`c => { n.set(1, 2); x.set(1, 0.5); }`, scope)
	for text, want := range map[string]string{
		"c => n.set(1, 0.5)":                     "n holds integers elsewhere: it cannot hold a float",
		"c => x.inc(1)":                          "x holds floats: inc counts integers",
		"c => x.set(1, 'a')":                     "x holds a float: it cannot hold another type too",
		"c => { x.set(1, 3); n.inc(1); }":        "",
		"c => { if (x.get(1) > 0.2) n.inc(1); }": "",
	} {
		u := parse(t, text, scope)
		u.Arena = r.arena
		_, list := Compile(u)
		var errors []string
		for _, d := range list {
			if d.Severity == diag.Error {
				errors = append(errors, d.Text)
			}
		}
		if strings.Join(errors, "|") != want {
			t.Errorf("%s: %q, want %q", text, errors, want)
		}
	}
}
