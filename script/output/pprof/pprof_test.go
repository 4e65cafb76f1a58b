package pprof

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gotap/script/output"
	"gotap/script/output/picture"
)

// TestOpens: go tool pprof reads the profile, with the flat and cumulative values of its own.
func TestOpens(t *testing.T) {
	p := &picture.Picture{Title: "a.js", Tables: []output.Table{
		{Name: "stacks", Columns: []string{"stack", "bytes", "hits"}, Rows: [][]any{{"main;work;leaf", int64(30), int64(3)}, {"main;work", int64(10), int64(1)}}}}}
	file := filepath.Join(t.TempDir(), "a.pb.gz")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := Write(f, p); err != nil {
		t.Fatal(err)
	}
	f.Close()
	for index, want := range map[string][]string{"stacks, hits": {"3 75.00% 75.00%          3 75.00%  leaf", "1 25.00%   100%          4   100%  work", "0     0%   100%          4   100%  main"},
		"stacks, bytes": {"30B 75.00% 75.00%        30B 75.00%  leaf"}} {
		out, err := exec.Command("go", "tool", "pprof", "-top", "-sample_index="+index, file).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		for _, line := range want {
			if !strings.Contains(string(out), line) {
				t.Errorf("%s has no %q:\n%s", index, line, out)
			}
		}
	}
}

// TestEmpty: a run without stacks cannot be written as a profile.
func TestEmpty(t *testing.T) {
	var b strings.Builder
	if err := Write(&b, &picture.Picture{}); err != picture.ErrNoStacks || b.Len() != 0 {
		t.Errorf("%d bytes, %v", b.Len(), err)
	}
}
