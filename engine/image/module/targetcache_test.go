package module

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"gotap/engine/image/sectioncache"
	"gotap/engine/testenv"
)

// searched returns the targets of a file as a search with a cache, or without one if it is nil, finds them.
func searched(t *testing.T, f *File, cache *sectioncache.Cache) *Targets {
	t.Helper()
	r := newSearch(f)
	r.searchOnce(cache)
	if r.err != nil {
		t.Fatal(r.err)
	}
	return r.Targets
}

// newSearch returns a search that has not begun.
func newSearch(f *File) *targetReader {
	r := &targetReader{File: f, Targets: &Targets{}, arch: jumps}
	for _, text := range f.text {
		r.branched, r.pointed = append(r.branched, newBitmap(text)), append(r.pointed, newBitmap(text))
	}
	return r
}

// largeFile returns a copy of this program, whose targets are kept.
func largeFile(t *testing.T) (path string, data []byte) {
	t.Helper()
	testenv.Require(t, testenv.AMD64) // the code is decoded for x86-64
	data, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "prog")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path, data
}

// openCache opens a cache until the end of the test.
func openCache(t *testing.T, dir string) *sectioncache.Cache {
	t.Helper()
	c, err := sectioncache.Open(dir, 64<<10, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// cached lists the files in a directory.
func cached(t *testing.T, dir string) (paths []string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// TestTargetsAreKept searches a file, takes over what is kept, and compares with a search without a cache: with a cache
// that has the file, after what is kept was spoilt, and after it was deleted.
func TestTargetsAreKept(t *testing.T) {
	path, _ := largeFile(t)
	f, dir := open(t, path), t.TempDir()
	cache := openCache(t, dir)
	want := searched(t, f, nil)
	if len(want.tables) == 0 {
		t.Fatal("no jump tables")
	}
	same := func(when string) {
		t.Helper()
		if !reflect.DeepEqual(searched(t, f, cache), want) {
			t.Errorf("%s: the targets differ from those of a search without a cache", when)
		}
		if n := len(cached(t, dir)); n != 1 {
			t.Errorf("%s: %d files are kept", when, n)
		}
	}
	same("at first")
	kept, err := os.ReadFile(cached(t, dir)[0])
	if err != nil || !want.isEncoded(kept) {
		t.Fatalf("what is kept is not accepted, %v", err)
	}
	again := newSearch(f)
	again.decode(kept)
	if !reflect.DeepEqual(again.Targets, want) {
		t.Error("what is kept has other targets")
	}
	same("from the cache")
	spoilt := bytes.Clone(kept)
	spoilt[len(spoilt)/3] ^= 1
	for when, data := range map[string][]byte{"a bit is wrong": spoilt, "the end is missing": kept[:len(kept)-8], "empty": nil} {
		if err := os.WriteFile(cached(t, dir)[0], data, 0o600); err != nil {
			t.Fatal(err)
		}
		same(when)
		if now, err := os.ReadFile(cached(t, dir)[0]); err != nil || !bytes.Equal(now, kept) {
			t.Errorf("%s: it is not replaced, %v", when, err)
		}
	}
	if err := os.Remove(cached(t, dir)[0]); err != nil {
		t.Fatal(err)
	}
	same("deleted")
}

// TestTargetsOfAChangedFile changes a call in the code of a file, which keeps its path, size, times and build ID.
func TestTargetsOfAChangedFile(t *testing.T) {
	path, data := largeFile(t)
	f, dir := open(t, path), t.TempDir()
	cache := openCache(t, dir)
	before := searched(t, f, cache)
	st, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	at, ok := f.Offset(f.Entry)
	if !ok {
		t.Fatal("the entry is not in the file")
	}
	copy(data[at:], "\xe8\xf5\xff\xff\xff") // call entry-6, which is in the function in front
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, st.ModTime(), st.ModTime()); err != nil {
		t.Fatal(err)
	}
	for _, changed := range []*File{f, open(t, path)} { // one that is open was changed in place
		after := searched(t, changed, cache)
		if !reflect.DeepEqual(after, searched(t, changed, nil)) || reflect.DeepEqual(after, before) {
			t.Error("the targets are not those of the file as it is now")
		}
	}
	if n := len(cached(t, dir)); n != 2 {
		t.Errorf("%d files are kept", n)
	}
}

// TestTargetsWithoutADirectory searches a file with a cache whose directory is gone: nothing can be written.
func TestTargetsWithoutADirectory(t *testing.T) {
	path, _ := largeFile(t)
	f, dir := open(t, path), filepath.Join(t.TempDir(), "cache")
	cache := openCache(t, dir)
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(searched(t, f, cache), searched(t, f, nil)) {
		t.Error("the targets differ from those of a search without a cache")
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("the directory was made again")
	}
}

// TestKeysOfFiles: two files have two keys.
func TestKeysOfFiles(t *testing.T) {
	path, _ := largeFile(t)
	a, errA := newSearch(open(t, path)).key()
	b, errB := newSearch(open(t, "/bin/sh")).key()
	if errA != nil || errB != nil || bytes.Equal(a, b) {
		t.Errorf("keys %x, %x, %v, %v", a, b, errA, errB)
	}
}
