package samples_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gotap"
	"gotap/compile"
	"gotap/samples"
	"gotap/script"
	"gotap/stdlib"
)

var update = flag.Bool("update", false, "rewrite the golden listings")

// listing is the bytecode of a sample as `gotap dis` prints it.
func listing(t *testing.T, s samples.Sample) []byte {
	t.Helper()
	checked, err := gotap.Check(gotap.Script{Name: s.File, Text: s.Text}, gotap.CheckOptions{Unsafe: strings.Contains(s.Text, "gotap run --unsafe ")})
	if err != nil {
		t.Fatal(err)
	}
	defer checked.Close()
	if len(checked.Warnings) > 0 {
		t.Fatal(checked.Warnings)
	}
	var b bytes.Buffer
	for _, p := range checked.Programs {
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
	if len(all) < 30 {
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

// TestHeaders holds every sample to the form its catalogue line is taken from, and to a header that has a call and its
// output.
func TestHeaders(t *testing.T) {
	all, err := samples.All()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		header, _, _ := strings.Cut(s.Text, "\n\n")
		if !strings.HasPrefix(s.Text, "// "+s.Name+": ") || s.Purpose == "" {
			t.Errorf("%s: the first line is not \"// %s: PURPOSE\"", s.Name, s.Name)
		}
		if !slices.Contains(samples.Topics(), s.Topic) {
			t.Errorf("%s: the second line has no topic of the catalogue: %q", s.Name, s.Topic)
		}
		if call := regexp.MustCompile(`(?m)^//   gotap run .*\b` + s.Name + `\b`); !call.MatchString(header) {
			t.Errorf("%s: the header shows no call", s.Name)
		}
		if strings.Count(header, "\n//\n") < 2 {
			t.Errorf("%s: the header shows no output", s.Name)
		}
		if again, ok := samples.Find(s.Name); !ok || again != s {
			t.Errorf("%s is not found by its name", s.Name)
		}
	}
}

// TestOptions: every argument of a sample has a default and a help text.
func TestOptions(t *testing.T) {
	all, err := samples.All()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		if filepath.Ext(s.File) != ".js" {
			continue // definition files have macros instead
		}
		loaded, list := script.Load(script.Options{Name: s.File, Text: s.Text, Std: stdlib.Files(), Check: true, Unsafe: true})
		if err := list.Err(); err != nil {
			t.Error(err)
			continue
		}
		for _, o := range loaded.Options() {
			if o.Help == "" {
				t.Errorf("%s: the argument %s has no help", s.Name, o.Name)
			}
		}
		loaded.Close()
	}
}
