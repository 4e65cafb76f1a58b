package mapped

import (
	"bytes"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"gotap/engine/image/sectioncache"
	"gotap/engine/testenv"
)

// TestCachedSections reads a section through a cache twice, and sees that the second image takes it from there.
func TestCachedSections(t *testing.T) {
	testenv.Require(t, testenv.GCC)
	contents := bytes.Repeat([]byte("some debug information, "), 10_000)
	other := bytes.ToUpper(contents)
	for _, kind := range []string{"zlib", "zlib-gnu"} {
		file, dir := withSection(t, kind, contents), t.TempDir()
		if data := readCached(t, file, dir); !bytes.Equal(data, contents) {
			t.Errorf("%s: %d other bytes", kind, len(data))
		}
		files, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil || len(files) != 1 {
			t.Fatalf("%s: the cache has %q, %v", kind, files, err)
		}
		if err := os.WriteFile(files[0], other, 0o600); err != nil {
			t.Fatal(err)
		}
		if data := readCached(t, file, dir); !bytes.Equal(data, other) {
			t.Errorf("%s: the section is decompressed again", kind)
		}
	}
}

// readCached returns a copy of .debug_str of a file, read through the cache in dir.
func readCached(t *testing.T, file, dir string) []byte {
	t.Helper()
	cache, err := sectioncache.Open(dir, 64<<10, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	defer cache.Close()
	m, err := Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	m.cache = cache
	data, _, err := m.Section(".debug_str")
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Clone(data)
}

// withSection returns a program whose .debug_str has the given contents, compressed in the given way.
func withSection(t *testing.T, kind string, contents []byte) string {
	t.Helper()
	program := build(t, "-gz=none")
	raw := filepath.Join(t.TempDir(), "raw")
	if err := os.WriteFile(raw, contents, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, argv := range [][]string{
		{"objcopy", "--update-section", ".debug_str=" + raw, program},
		{"objcopy", "--compress-debug-sections=" + kind, program},
	} {
		if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%q: %v\n%s", argv, err, out)
		}
	}
	f, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	name := map[string]string{"zlib": ".debug_str", "zlib-gnu": ".zdebug_str"}[kind]
	if s := f.Section(name); s == nil || s.FileSize > uint64(len(contents))/2 {
		t.Fatalf("%s is not compressed: %+v", name, s)
	}
	return program
}
