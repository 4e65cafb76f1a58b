package procfs

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestNames: a process is known by its file, by the command as it was called, and by its own name; afterwards by none.
func TestNames(t *testing.T) {
	cat, err := exec.LookPath("cat")
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(cat)
	c.Args[0] = "/elsewhere/longercat"
	in, inErr := c.StdinPipe()
	out, outErr := c.StdoutPipe()
	if err := errors.Join(inErr, outErr, c.Start()); err != nil {
		t.Fatal(err)
	}
	// Start returns when the new program is certain to run, but before the kernel has set its arguments. A program that
	// answers has them.
	answer := make([]byte, 1)
	if _, err := in.Write(answer); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, answer); err != nil {
		t.Fatal(err)
	}
	file, err := filepath.EvalSymlinks(cat)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := Names(c.Process.Pid), []string{filepath.Base(file), "longercat", "cat"}; !slices.Equal(got, want) {
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

// TestParsePid: errors say what is wrong with the text.
func TestParsePid(t *testing.T) {
	if pid, err := ParsePid("4194304"); err != nil || pid != MaxPid {
		t.Errorf("%d, %v", pid, err)
	}
	for text, want := range map[string]string{"": ": not a number", "-1": "-1: process numbers are 1 to 4194304", "-": "-: not a number", "-x": "-x: not a number", "12x": `12x: "x" after the number`,
		"0": "0: process numbers are 1 to 4194304", "4194305": "4194305: process numbers are 1 to 4194304"} {
		if _, err := ParsePid(text); err == nil || err.Error() != want {
			t.Errorf("%q: %v, not %s", text, err, want)
		}
	}
}

// TestHeapStart compares with the heap that the kernel shows of a program that has one.
func TestHeapStart(t *testing.T) {
	c := exec.Command("cat")
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer c.Wait()
	defer in.Close()
	heap := regexp.MustCompile(`(?m)^([0-9a-f]+)-.*\[heap\]$`)
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if m := heap.FindStringSubmatch(Read(c.Process.Pid, "maps")); m != nil {
			if got := fmt.Sprintf("%x", HeapStart(c.Process.Pid)); got != strings.TrimLeft(m[1], "0") {
				t.Errorf("%s, the heap begins at %s", got, m[1])
			}
			return
		}
		if time.Now().After(end) {
			t.Fatal("cat has no heap")
		}
	}
}
