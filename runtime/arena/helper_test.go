package arena

import (
	"strings"
	"testing"

	"gotap/runtime/snapshot"
)

// newArena is an arena in ordinary memory, which the race detector watches; it does not see mapped memory.
func newArena(t testing.TB) *Arena {
	t.Helper()
	a, err := NewOn(make([]uint64, 24<<20/8), minRing)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// text is what a snapshot prints.
func text(s snapshot.Snapshot, o snapshot.Options) string {
	var b strings.Builder
	s.Print(&b, o)
	return b.String()
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
