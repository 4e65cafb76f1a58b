package procfs

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestProcOfOthers: a /proc that is missing, or that belongs to another namespace, is reported with a remedy.
func TestProcOfOthers(t *testing.T) {
	if err := Check(); err != nil {
		t.Errorf("ours: %v", err)
	}
	dir := t.TempDir()
	expect := func(want string) {
		t.Helper()
		err := check(dir, 7)
		var wrong *Error
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), want) || wrong.Hint() == "" {
			t.Errorf("%v, want %q", err, want)
		}
	}
	expect("is not mounted")
	if err := os.Symlink("8", filepath.Join(dir, "self")); err != nil {
		t.Fatal(err)
	}
	expect("another pid namespace")
}
