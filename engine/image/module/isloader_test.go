package module

import (
	"debug/elf"
	"errors"
	"testing"
)

// TestIsLoader: the loaders of all distributions are recognised by their names, and only where a file was read.
func TestIsLoader(t *testing.T) {
	for path, want := range map[string]bool{
		"/lib64/ld-linux-x86-64.so.2": true, "/lib/ld-musl-x86_64.so.1": true, "/lib/ld-2.31.so": true, "/lib/libc.so.6": false, "/bin/ld": false,
	} {
		m := Loaded{Path: path, File: empty(elf.EM_X86_64, 64)}
		if m.IsLoader() != want {
			t.Errorf("%s: %v", path, !want)
		}
		m.Err = errors.New("cannot read it")
		if m.IsLoader() {
			t.Errorf("%s, which cannot be read, is a loader", path)
		}
	}
}
