package dpdf

import "testing"

func TestLooks(t *testing.T) {
	for text, want := range map[string]bool{
		"name = \"x\"\noffset = work\n":            true,
		"// a file\n/* of\n two */ modtype=user\n": true,
		"\ufeff#define N 3\nname = x\n":            true,
		"#include \"all.dpdf\"\r\n":                true,
		"  # ifdef A\n":                            true,
		"offset = main\nexit\n":                    true,
		"":                                         false,
		"// nothing":                               false,
		"/* nothing":                               false,
		"#!/usr/bin/env gotap\nname = 3\n":         false,
		"name = \"x\";\nprobe(name, c => {});":     false,
		"name == 3":                                false,
		"name => 3":                                false,
		"const name = 3\n":                         false,
		"probe(\"work\", { enter(c) { let offset = 3; } });": false,
		"let n = 0;\nname = 3\n":                             false,
		"import { a } from \"./b.js\";\nname = \"x\"\n":      false,
		"unknown = 3\n": false,
	} {
		if got := Looks(text); got != want {
			t.Errorf("Looks(%q) = %v", text, got)
		}
	}
}
