package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// readme is the text that the project shows first.
func readme(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestReadmeCommands: the table of commands has them all, and no other.
func TestReadmeCommands(t *testing.T) {
	text, known := readme(t), map[string]bool{"help": true}
	for _, c := range newRoot(&World{}).Commands() {
		if c.Hidden || !c.IsAvailableCommand() || c.Name() == "completion" {
			continue
		}
		known[c.Name()] = true
		if !strings.Contains(text, "\n| `gotap "+c.Name()+"`") && !strings.Contains(text, "\n| `gotap "+c.Name()+" ") {
			t.Errorf("the readme does not tell of gotap %s", c.Name())
		}
	}
	for _, m := range regexp.MustCompile("\n\\| `gotap ([a-z]+)").FindAllStringSubmatch(text, -1) {
		if !known[m[1]] {
			t.Errorf("the readme tells of gotap %s, which is no command", m[1])
		}
	}
}

// TestReadmeFolders: the table of folders has every folder of the tree's top that has packages, and names only packages that there are.
func TestReadmeFolders(t *testing.T) {
	packages := ownImports(t, filepath.Join("..", ".."))
	top := map[string]bool{}
	for folder := range packages {
		top[strings.Split(folder, "/")[0]] = true
	}
	table := regexp.MustCompile("\n\\| `([a-z/]+)` \\| ([^|]*)\\|").FindAllStringSubmatch(readme(t), -1)
	for _, row := range table {
		folder, first := row[1], strings.Split(row[1], "/")[0]
		if !top[first] {
			continue // of another table
		}
		if delete(top, first); packages[folder] == nil {
			t.Errorf("the readme tells of the folder %s, which has no package", folder)
		}
		for _, m := range regexp.MustCompile("`([a-z]+)`").FindAllStringSubmatch(row[2], -1) {
			if packages[folder+"/"+m[1]] == nil {
				t.Errorf("the readme tells of %s in %s, which is no package", m[1], folder)
			}
		}
	}
	for folder := range top {
		t.Errorf("the readme does not tell of the folder %s", folder)
	}
}
