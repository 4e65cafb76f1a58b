package sectioncache

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"
)

func open(t *testing.T, dir string, most int64) *Cache {
	t.Helper()
	c, err := Open(dir, smallest, most)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// section returns the contents of a section that is worth keeping, and its compressed form.
func section(n byte) (packed, data []byte) {
	return []byte{'p', n}, bytes.Repeat([]byte{n}, smallest)
}

// get gets the section of section(n), and reports whether it was decompressed.
func get(t *testing.T, c *Cache, n byte) (decompressed bool) {
	t.Helper()
	packed, data := section(n)
	s, err := c.Get(packed, uint64(len(data)), func() ([]byte, error) {
		decompressed = true
		return data, nil
	})
	if err != nil || !bytes.Equal(s.Data, data) {
		t.Errorf("section %d has %d bytes, %v", n, len(s.Data), err)
	}
	if err := errors.Join(s.Unmap(), s.Unmap()); err != nil {
		t.Error(err)
	}
	return decompressed
}

func TestGet(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	c := open(t, dir, 1<<20)
	if !get(t, c, 1) || get(t, c, 1) || !get(t, c, 2) || get(t, open(t, dir, 1<<20), 2) {
		t.Error("each section has to be decompressed once")
	}
	if st, err := os.Stat(dir); err != nil || st.Mode().Perm() != 0o700 {
		t.Errorf("the directory is %v, %v", st, err)
	}
	var none *Cache
	if !get(t, none, 1) {
		t.Error("no cache had a section")
	}
	small := func() ([]byte, error) { return []byte("small"), nil }
	if s, err := c.Get([]byte("small"), 5, small); err != nil || string(s.Data) != "small" || len(c.files()) != 2 {
		t.Errorf("a small section: %q, %v, %d files", s.Data, err, len(c.files()))
	}
	broken := errors.New("broken")
	if _, err := c.Get([]byte("b"), smallest, func() ([]byte, error) { return nil, broken }); err != broken || len(c.files()) != 2 {
		t.Errorf("an error: %v, %d files", err, len(c.files()))
	}
	short := func() ([]byte, error) { return make([]byte, smallest-1), nil }
	if _, err := c.Get([]byte("s"), smallest, short); err != nil || len(c.files()) != 2 {
		t.Errorf("a section that is too short: %v, %d files", err, len(c.files()))
	}
}

// TestDerived keeps what is derived from a key, as long as it is right.
func TestDerived(t *testing.T) {
	c := open(t, t.TempDir(), 1<<20)
	good, broken := bytes.Repeat([]byte("good"), smallest/2), errors.New("broken")
	derived := 0
	get := func(key string, right bool, result []byte, failed error) {
		t.Helper()
		data, err := c.Derived([]byte(key), func([]byte) bool { return right }, func() ([]byte, error) {
			derived++
			return result, failed
		})
		if err != failed || err == nil && !bytes.Equal(data, result) {
			t.Errorf("%s: %d bytes, %v", key, len(data), err)
		}
	}
	get("a", true, good, nil)
	get("a", true, good, nil) // from the cache
	get("a", false, good, nil)
	get("b", true, nil, broken)
	get("b", true, good, nil)
	get("small", true, []byte("small"), nil)
	get("small", true, []byte("small"), nil)
	if derived != 6 {
		t.Errorf("derived %d times", derived)
	}
	if files := c.files(); len(files) != 2 { // "a" and "b", without "small"
		t.Errorf("%d files", len(files))
	}
	for n := range byte(30) {
		get(string([]byte{'x', n}), true, good, nil)
	}
	var size int64
	for _, f := range c.files() {
		size += f.Size()
	}
	if size > 1<<20 || size < 1<<19 {
		t.Errorf("%d bytes are kept", size)
	}
	large := make([]byte, 1<<19+1)
	for range 2 {
		get("too large", true, large, nil)
	}
	if derived != 6+30+2 {
		t.Errorf("derived %d times", derived)
	}
}

// TestNotTrusted spoils a kept section in ways that must not become its contents.
func TestNotTrusted(t *testing.T) {
	_, data := section(1)
	for name, spoil := range map[string]func(path string) error{
		"too short":         func(path string) error { return os.Truncate(path, smallest-1) },
		"writable by group": func(path string) error { return os.Chmod(path, 0o620) },
		"a directory":       func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) },
		"a pipe":            func(path string) error { return errors.Join(os.Remove(path), syscall.Mkfifo(path, 0o600)) },
		"a link": func(path string) error {
			other := filepath.Join(filepath.Dir(path), "other")
			return errors.Join(os.Remove(path), os.WriteFile(other, data, 0o600), os.Symlink(other, path))
		},
	} {
		c := open(t, t.TempDir(), 1<<20)
		get(t, c, 1)
		if err := spoil(filepath.Join(c.root.Name(), c.files()[0].Name())); err != nil {
			t.Fatal(err)
		}
		if !get(t, c, 1) {
			t.Errorf("%s: it is taken from the cache", name)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o770); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, smallest, 1<<20); err == nil {
		t.Error("others may write to the directory")
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(file, smallest, 1<<20); err == nil {
		t.Error("a file is a directory")
	}
}

// TestMakeRoom fills a cache. What has not been used for the longest time goes; files that are not the cache's stay.
func TestMakeRoom(t *testing.T) {
	c := open(t, t.TempDir(), 3*smallest)
	path := func(name string) string { return filepath.Join(c.root.Name(), name) }
	write := func(name string, age time.Duration) {
		t.Helper()
		when := time.Now().Add(-age)
		if err := errors.Join(os.WriteFile(path(name), []byte("x"), 0o600), os.Chtimes(path(name), when, when)); err != nil {
			t.Fatal(err)
		}
	}
	write("notes.txt", 1000*time.Hour)
	write(tempPrefix+"OLD", 2*time.Hour)
	for n := byte(1); n <= 3; n++ {
		get(t, c, n)
		packed, _ := section(n)
		when := time.Now().Add(-noted * time.Duration(10-n))
		if err := os.Chtimes(path(nameOf(packed)), when, when); err != nil {
			t.Fatal(err)
		}
	}
	if get(t, c, 1) { // now 2 has not been used for the longest time
		t.Fatal("1 is gone")
	}
	get(t, c, 4)
	for n, gone := range []bool{1: false, 2: true, 3: false, 4: false} {
		packed, _ := section(byte(n))
		if _, err := os.Stat(path(nameOf(packed))); n > 0 && gone != os.IsNotExist(err) {
			t.Errorf("section %d: %v", n, err)
		}
	}
	if _, err := os.Stat(path("notes.txt")); err != nil {
		t.Errorf("a file that is not the cache's is gone: %v", err)
	}
	if _, err := os.Stat(path(tempPrefix + "OLD")); err == nil {
		t.Error("what a killed writer left stays")
	}
}

// TestManyWriters has several caches of one directory write and read the same sections.
func TestManyWriters(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	for range 8 {
		c := open(t, dir, 4*smallest)
		wg.Go(func() {
			for i := range 40 {
				get(t, c, byte(i%6))
			}
		})
	}
	wg.Wait()
}

func TestDirectory(t *testing.T) {
	home := t.TempDir()
	cache := filepath.Join(home, ".cache")
	for _, c := range []struct{ variable, xdg, home, want string }{
		{"", "", home, filepath.Join(cache, "gotap", "sections")},
		{"", filepath.Join(home, "xdg"), home, filepath.Join(home, "xdg", "gotap", "sections")},
		{"", "", filepath.Join(home, "none"), ""},
		{"", "", "", ""},
		{"off", "", home, ""},
		{"/some/where", "", home, "/some/where"},
	} {
		t.Setenv(Variable, c.variable)
		t.Setenv("XDG_CACHE_HOME", c.xdg)
		t.Setenv("HOME", c.home)
		if dir := directory(); dir != c.want {
			t.Errorf("%+v: %q", c, dir)
		}
	}
}
