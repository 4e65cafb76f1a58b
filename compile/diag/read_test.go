package diag

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A text has an end; a device that has none is refused, and not read for ever.
func TestReadFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.js")
	for size, want := range map[int]string{0: "", MaxText: "", MaxText + 1: "it is larger than 16 MB"} {
		if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
		text, err := ReadFile(path)
		if want == "" && (err != nil || len(text) != size) || want != "" && (err == nil || err.Error() != want) {
			t.Errorf("of %d bytes %d are read, %v", size, len(text), err)
		}
	}
	if _, err := ReadFile("/dev/zero"); err == nil || !strings.Contains(err.Error(), "larger") {
		t.Errorf("/dev/zero: %v", err)
	}
}
