package datafile

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// What gotap makes is its owner's alone, and nothing that had the name before is written to.
func TestCreate(t *testing.T) {
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	dir := t.TempDir()
	other, path := filepath.Join(dir, "other"), filepath.Join(dir, "new")
	write := func(path string) {
		if err := os.WriteFile(path, []byte("precious"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for name, before := range map[string]func(){
		"nothing": func() {}, "a file": func() { write(path) }, "a hard link": func() { os.Link(other, path) },
		"a link": func() { os.Symlink(other, path) }, "a link to nothing": func() { os.Symlink(filepath.Join(dir, "none"), path) },
	} {
		write(other)
		before()
		f, err := Create(path)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		f.WriteString("secret")
		f.Close()
		info, err := os.Lstat(path)
		if text, _ := os.ReadFile(path); err != nil || info.Mode() != 0o600 || string(text) != "secret" {
			t.Errorf("%s: %v, %v, %q", name, info, err, text)
		}
		if text, _ := os.ReadFile(other); string(text) != "precious" {
			t.Errorf("%s: the other file has %q", name, text)
		}
		os.Remove(path)
	}
	if _, err := Create(dir); err == nil {
		t.Error("a directory is a file")
	}
}

// A file that the user named is opened as a shell does, but through no link of somebody else.
func TestOpen(t *testing.T) {
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	dir := t.TempDir()
	path, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	for range 2 { // new, and there already
		f, err := Open(link, os.O_APPEND)
		if err != nil {
			t.Fatal(err)
		}
		f.WriteString("x")
		f.Close()
	}
	info, err := os.Lstat(path)
	if err != nil || info.Mode() != 0o600 || info.Size() != 2 {
		t.Errorf("%v, %v", info, err)
	}
	if f, err := Open("/dev/stdout", 0); err != nil { // a link of root, to one of this process
		t.Error(err)
	} else {
		f.Close()
	}
	if os.Geteuid() != 0 {
		return
	}
	if err := os.Lchown(link, 12345, -1); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(link, 0); err == nil || !strings.Contains(err.Error(), "link of user 12345") {
		t.Errorf("a link of another user: %v", err)
	}
}

// TestIsNull: the null device is known whatever its descriptor, and a file is not it.
func TestIsNull(t *testing.T) {
	null, err := os.OpenFile("/dev/null", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	file, err := os.Create(filepath.Join(t.TempDir(), "null"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if !IsNull(null) || IsNull(file) {
		t.Errorf("/dev/null: %v, a file: %v", IsNull(null), IsNull(file))
	}
}
