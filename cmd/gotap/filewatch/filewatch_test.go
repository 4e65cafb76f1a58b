package filewatch

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

const patience = 5 * time.Minute

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// changed reports whether Wait returns because a file has changed.
func changed(t *testing.T, v *Watcher, within time.Duration) bool {
	t.Helper()
	done := make(chan struct{})
	timer := time.AfterFunc(within, func() { close(done) })
	defer timer.Stop()
	return v.Wait(done)
}

func TestSavedFilesAreReported(t *testing.T) {
	dir := t.TempDir()
	path, beside := filepath.Join(dir, "a.js"), filepath.Join(dir, "b.js")
	write(t, path, "one")
	v, err := New([]string{path}, map[string]string{path: "one"})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	if changed(t, v, 3*SettleTime) {
		t.Error("nothing has changed")
	}
	write(t, beside, "other")
	if changed(t, v, 3*SettleTime) {
		t.Error("a file that is not watched has changed")
	}
	write(t, path, "two")
	if !changed(t, v, patience) {
		t.Error("a file was written, and not reported")
	}
	write(t, beside, "three")
	if err := os.Rename(beside, path); err != nil { // as editors save
		t.Fatal(err)
	}
	if !changed(t, v, patience) {
		t.Error("a file was renamed over the watched one, and not reported")
	}
}

// TestSavedBeforeTheWatch: a file that was saved after it had been loaded is different at once.
func TestSavedBeforeTheWatch(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.js")
	write(t, path, "two")
	v, err := New([]string{path}, map[string]string{path: "one"})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	if !changed(t, v, patience) {
		t.Error("not reported")
	}
}

func TestTrail(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "file"), "x")
	for link, to := range map[string]string{"first": "second", "second": filepath.Join(dir, "file"), "loop": "loop"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{filepath.Join(dir, "first"), filepath.Join(dir, "second"), filepath.Join(dir, "file")}
	if got := trail(filepath.Join(dir, "first")); !slices.Equal(got, want) {
		t.Errorf("%q, not %q", got, want)
	}
	if got := trail(filepath.Join(dir, "loop")); len(got) != maxLinks+1 {
		t.Errorf("%d parts of a loop", len(got))
	}
}
