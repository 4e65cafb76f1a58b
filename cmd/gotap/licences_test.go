package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestLicences compares docs/licences.md with the modules that the binary contains. GOTAP_UPDATE=1 writes it.
func TestLicences(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}} {{.Dir}}{{end}}{{end}}", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	modules := slices.Compact(slices.Sorted(strings.Lines(string(out))))
	var b strings.Builder
	b.WriteString("# Licences\n\nThe binary contains these modules besides Go's standard library (BSD-3-Clause). Their texts are in the modules.\n\n| module | version | licence |\n|---|---|---|\n")
	for _, line := range modules {
		f := strings.Fields(line)
		if len(f) != 3 {
			continue
		}
		name := licenceOf(t, f[2])
		if name == "" {
			t.Errorf("the licence of %s is not recognised", f[0])
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", f[0], f[1], name)
	}
	file := filepath.Join("..", "..", "docs", "licences.md")
	if os.Getenv("GOTAP_UPDATE") != "" {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, _ := os.ReadFile(file); string(got) != b.String() {
		t.Errorf("docs/licences.md is out of date; GOTAP_UPDATE=1 go test -run TestLicences ./cmd/gotap writes:\n%s", b.String())
	}
}

// licenceOf recognises a module's licence by phrases of its text.
func licenceOf(t *testing.T, dir string) string {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(dir, "LICEN[CS]E*"))
	if len(files) == 0 {
		t.Fatalf("%s has no licence", dir)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Join(strings.Fields(string(text)), " ")
	for _, l := range []struct{ phrase, name string }{
		{"Apache License Version 2.0", "Apache-2.0"},
		{"Neither the name of", "BSD-3-Clause"},
		{"names of its contributors may not be used", "BSD-3-Clause"},
		{"Redistribution and use in source and binary forms", "BSD-2-Clause"},
		{"Permission is hereby granted, free of charge", "MIT"},
	} {
		if strings.Contains(words, l.phrase) {
			return l.name
		}
	}
	return ""
}
