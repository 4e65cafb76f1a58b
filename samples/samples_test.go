package samples_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotap/compile"
	"gotap/samples"
	"gotap/script"
	"gotap/stdlib"
)

var update = flag.Bool("update", false, "rewrite the golden listings")

// listing is the bytecode of a sample as `gotap dis` prints it.
func listing(t *testing.T, s samples.Sample) []byte {
	t.Helper()
	loaded, list := script.Load(script.Options{Name: s.Name + ".js", Text: s.Text, Std: stdlib.Files(), Check: true})
	if err := list.Err(); err != nil {
		t.Fatal(err)
	}
	defer loaded.Close()
	all, list := loaded.Check()
	if len(list) > 0 {
		t.Fatal(list)
	}
	var b bytes.Buffer
	for _, p := range all {
		if err := compile.List(&b, p.Program, compile.ListOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

// TestListings compares what every sample compiles to with what it compiled to before.
func TestListings(t *testing.T) {
	all, err := samples.All()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 10 {
		t.Fatalf("only %d samples", len(all))
	}
	for _, s := range all {
		t.Run(s.Name, func(t *testing.T) {
			got := listing(t, s)
			golden := filepath.Join("testdata", s.Name+".listing")
			if *update {
				if err := os.WriteFile(golden, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("the listing has changed (go test -update rewrites it):\n%s", got)
			}
		})
	}
}

// TestHeaders holds every sample to the form its catalogue line is taken from.
func TestHeaders(t *testing.T) {
	all, err := samples.All()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		if !strings.HasPrefix(s.Text, "// "+s.Name+": ") || s.Purpose == "" {
			t.Errorf("%s: the first line is not \"// %s: PURPOSE\"", s.Name, s.Name)
		}
		if !strings.Contains(s.Text, "//   gotap run "+s.Name) {
			t.Errorf("%s: the header shows no call", s.Name)
		}
		if again, ok := samples.Find(s.Name); !ok || again != s {
			t.Errorf("%s is not found by its name", s.Name)
		}
	}
}
