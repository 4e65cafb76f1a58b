package procfs

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// TestNames: a process is known by its file, by the command as it was called, and by its own name; afterwards by none.
func TestNames(t *testing.T) {
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(sleep, "1000")
	c.Args[0] = "/elsewhere/longersleeper"
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	file, err := filepath.EvalSymlinks(sleep)
	if err != nil {
		t.Fatal(err)
	}
	// Start returns when the program has begun.
	if got, want := Names(c.Process.Pid), []string{filepath.Base(file), "longersleeper", "sleep"}; !slices.Equal(got, want) {
		t.Errorf("the names are %q, not %q", got, want)
	}
	all := Processes()
	if !slices.Contains(all, c.Process.Pid) || !slices.Contains(all, os.Getpid()) || !slices.IsSorted(all) {
		t.Errorf("%d and %d are not both in %v, in order", c.Process.Pid, os.Getpid(), all)
	}
	c.Process.Kill()
	c.Wait()
	if got := Names(c.Process.Pid); got != nil {
		t.Errorf("a process that has ended is called %q", got)
	}
}
