package engine

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotap/engine/ptrace"
)

// TestProcOfOthers: a /proc that is missing or another namespace's is told of, with the remedy.
func TestProcOfOthers(t *testing.T) {
	if err := CheckProc(); err != nil {
		t.Errorf("ours: %v", err)
	}
	dir := t.TempDir()
	check := func(want string) {
		t.Helper()
		err := checkProc(dir, 7)
		var wrong *ProcError
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), want) || wrong.Hint() == "" {
			t.Errorf("%v, want %q", err, want)
		}
	}
	check("is not mounted")
	if err := os.Symlink("8", filepath.Join(dir, "self")); err != nil {
		t.Fatal(err)
	}
	check("another pid namespace")
}

// TestNoMemory: of a process whose memory could not be opened, nothing can be read, and it can be let go.
func TestNoMemory(t *testing.T) {
	s := &Session{}
	sp := &space{mem: &ptrace.Memory{}, users: 1}
	if n := sp.read(0x1000, make([]byte, 4)); n != 0 {
		t.Errorf("read %d bytes", n)
	}
	s.dropSpace(sp)
	p := unopened()
	if p.mem == nil {
		t.Error("a process that was just started has no memory at all")
	}
}
