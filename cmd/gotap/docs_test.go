package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// page reads a page of the documentation, by its path from the top of the tree.
func page(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestReadmeFitsOnePage checks the length of the README, and that the pages it links exist.
func TestReadmeFitsOnePage(t *testing.T) {
	text := page(t, "README.md")
	if n := len(strings.Fields(text)); n > 1200 {
		t.Errorf("README.md has %d words, more than 1,200", n)
	}
	links := regexp.MustCompile(`\]\(([^)#:]+)[)#]`) // other pages of the tree
	pages, _ := filepath.Glob(filepath.Join("..", "..", "docs", "*.md"))
	for _, m := range links.FindAllStringSubmatch(text, -1) {
		page(t, m[1])
	}
	for _, p := range pages {
		for _, m := range links.FindAllStringSubmatch(page(t, filepath.Join("docs", filepath.Base(p))), -1) {
			page(t, filepath.Join("docs", m[1]))
		}
		if !strings.Contains(text, "docs/"+filepath.Base(p)) {
			t.Errorf("README.md does not link docs/%s", filepath.Base(p))
		}
	}
}

// TestCommandsAreDocumented checks that the table of commands has every command and no other.
func TestCommandsAreDocumented(t *testing.T) {
	text, known := page(t, "docs/command-line.md"), map[string]bool{"help": true}
	for _, c := range newRoot(&World{}).Commands() {
		if c.Hidden || !c.IsAvailableCommand() || c.Name() == "completion" {
			known[c.Name()] = true
			continue
		}
		known[c.Name()] = true
		if !strings.Contains(text, "\n| `gotap "+c.Name()+"`") && !strings.Contains(text, "\n| `gotap "+c.Name()+" ") {
			t.Errorf("gotap %s is not documented", c.Name())
		}
	}
	for _, m := range regexp.MustCompile("\n\\| `gotap ([a-z]+)").FindAllStringSubmatch(text, -1) {
		if !known[m[1]] {
			t.Errorf("gotap %s is documented and not a command", m[1])
		}
	}
}

// TestFolderMap checks that the table of folders has every top-level folder with packages, and names only packages that
// exist. A name in a row is relative to the row's folder.
func TestFolderMap(t *testing.T) {
	packages, top := map[string]bool{}, map[string]bool{}
	for folder := range ownImports(t, filepath.Join("..", "..")) {
		top[strings.Split(folder, "/")[0]] = true
		for ; folder != "."; folder = filepath.Dir(folder) {
			packages[folder] = true // also a folder that only holds packages
		}
	}
	table := regexp.MustCompile("\n\\| `([a-z0-9/]+)` \\| ([^|]*)\\|").FindAllStringSubmatch(page(t, "CONTRIBUTING.md"), -1)
	for _, row := range table {
		folder, first := row[1], strings.Split(row[1], "/")[0]
		if top[first] = top[first] && row[1] != first; !packages[first] {
			continue // of another table
		}
		if !packages[folder] {
			t.Errorf("CONTRIBUTING.md lists the folder %s, which has no package", folder)
		}
		for _, m := range regexp.MustCompile("`([a-z0-9/]+)`").FindAllStringSubmatch(row[2], -1) {
			if !packages[folder+"/"+m[1]] {
				t.Errorf("CONTRIBUTING.md lists %s in %s, which is not a package", m[1], folder)
			}
		}
	}
	for folder, missing := range top {
		if missing && folder != "cmd" && folder != "." {
			t.Errorf("CONTRIBUTING.md does not list the folder %s", folder)
		}
	}
}
