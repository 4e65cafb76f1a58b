package catalog_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotap/engine/place"
	"gotap/engine/place/catalog"
	"gotap/engine/testenv"
	"gotap/engine/testenv/fixture"
)

// TestBrief: a brief listing has the same places as another, without what debug information has.
func TestBrief(t *testing.T) {
	testenv.Require(t, testenv.GCC)
	source, prog := filepath.Join(t.TempDir(), "prog.c"), filepath.Join(t.TempDir(), "prog")
	if err := os.WriteFile(source, []byte("int twice(int n) { return 2 * n; }\nint thrice(int n) { return 3 * n; }\nint main(void) { return twice(0); }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := fixture.Command("gcc", "-g", "-o", prog, source).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	list := func(brief bool) []catalog.Entry {
		spec, err := place.Parse(prog + ":t*ice")
		if err != nil {
			t.Fatal(err)
		}
		all := catalog.New(nil)
		defer all.Close()
		all.Brief = brief
		found, err := all.File(spec)
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	full, brief := list(false), list(true)
	if len(full) != 2 || len(brief) != 2 {
		t.Fatalf("%d places, and %d in brief", len(full), len(brief))
	}
	for i, e := range full {
		if b := brief[i]; b.Text != e.Text || b.Where != e.Where || b.Signature != "" || !strings.Contains(e.Signature, "int n") {
			t.Errorf("%+v, and in brief %+v", e, b)
		}
	}
}
