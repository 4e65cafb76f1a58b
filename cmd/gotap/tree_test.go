package main

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// maxFile is the limit for one file of the tree, in bytes. What is larger has been built, and was added by mistake.
const maxFile = 256 << 10

// isBuilt reports what .gitignore names.
func isBuilt(path string) bool {
	name := filepath.Base(path)
	return slices.Contains([]string{"gotap", "build", "bin", ".git", filepath.Join("cmd", "gotap", "gotap")}, path) ||
		strings.HasSuffix(name, ".test") || strings.HasSuffix(name, ".out") || strings.HasPrefix(name, "core.")
}

// TestNothingBuiltInTheTree makes sure that no program is among the sources.
func TestNothingBuiltInTheTree(t *testing.T) {
	root, seen := filepath.Join("..", ".."), 0
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		path, err = filepath.Rel(root, path)
		if err != nil || entry.IsDir() {
			if err == nil && isBuilt(path) {
				return filepath.SkipDir
			}
			return err
		}
		info, err := entry.Info()
		if err == nil && info.Size() > maxFile && !isBuilt(path) {
			t.Errorf("%s has %d bytes; %d is the limit", path, info.Size(), maxFile)
		}
		seen++
		return err
	})
	if err != nil || seen < 1000 {
		t.Errorf("%v, only %d files seen", err, seen)
	}
}
