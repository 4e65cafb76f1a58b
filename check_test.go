package gotap_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotap"
	"gotap/compile"
)

// TestCheck: scripts, definition files and listings are compiled without a target, and a listing of a program is the
// same program.
func TestCheck(t *testing.T) {
	c, err := gotap.Check(gotap.Script{Name: "-e", Text: `const n = count(); probe("libc:malloc", { enter(c) { n.add(1); } });`}, gotap.CheckOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if len(c.Programs) != 1 || c.Programs[0].Title != "libc:malloc enter" || len(c.Programs[0].Code) == 0 || c.Arena == nil {
		t.Errorf("the script became %+v", c.Programs)
	}
	var listing strings.Builder
	if err := compile.List(&listing, c.Programs[0].Program, compile.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	l, err := gotap.Check(gotap.Script{Name: "a.rpn", Text: listing.String()}, gotap.CheckOptions{})
	if err != nil {
		t.Fatalf("%v, of\n%s", err, &listing)
	}
	defer l.Close()
	want, wantErr := c.Programs[0].MarshalBinary()
	got, gotErr := l.Programs[0].MarshalBinary()
	if wantErr != nil || gotErr != nil || !bytes.Equal(got, want) {
		t.Errorf("%v, %v: the listing became %x, not %x", wantErr, gotErr, got, want)
	}
}

// TestCheckRefuses: errors have a kind and positions; one that only --unsafe would allow is told apart.
func TestCheckRefuses(t *testing.T) {
	check := func(text string, o gotap.CheckOptions) error {
		c, err := gotap.Check(gotap.Script{Name: "-e", Text: text}, o)
		if err == nil {
			c.Close()
		}
		return err
	}
	const changes = `probe("libc:malloc", { enter(c) { write.u32(c.sp - 256, 1); } });`
	var failure *gotap.Error
	var list gotap.Diagnostics
	err := check("probe(", gotap.CheckOptions{})
	if !errors.As(err, &failure) || failure.Kind != gotap.BadScript || !errors.As(err, &list) || gotap.NeedsUnsafe(err) {
		t.Errorf("a script that does not compile: %v", err)
	}
	if err := check(changes, gotap.CheckOptions{}); !gotap.NeedsUnsafe(err) {
		t.Errorf("a script that changes the target: %v", err)
	}
	if err := check(changes, gotap.CheckOptions{Unsafe: true}); err != nil {
		t.Errorf("a script that may change the target: %v", err)
	}
}

// TestBuild: a script that stands alone becomes a prebuilt file, one that imports a file does not.
func TestBuild(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "other.js"), []byte("export const x = 1;"), 0o600); err != nil {
		t.Fatal(err)
	}
	alone := gotap.Script{Name: filepath.Join(dir, "a.js"), Dir: dir, Text: `import "gotap/time"; print("a");`}
	if f, _, err := gotap.Build(alone, gotap.CheckOptions{}); err != nil || f.Name != "a.js" || f.Script != alone.Text {
		t.Errorf("%+v, %v", f, err)
	}
	alone.Text = `import { x } from "./other.js"; print(x);`
	_, _, err := gotap.Build(alone, gotap.CheckOptions{})
	var failure *gotap.Error
	if !errors.As(err, &failure) || !strings.Contains(err.Error(), "other.js") || failure.Hint() == "" {
		t.Errorf("a script in two files: %v", err)
	}
}
