package compile_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"gotap/compile"
	"gotap/compile/diag"
	"gotap/compile/dpdf"
	"gotap/runtime/arena"
	"gotap/samples"
	"gotap/script"
	"gotap/stdlib"
)

// sameAgain lists programs as `gotap dis` does, and assembles the listing: that must give the
// same bytes.
func sameAgain(t *testing.T, programs []*compile.Program) {
	t.Helper()
	var listing strings.Builder
	for _, p := range programs {
		if err := compile.List(&listing, p, compile.ListOptions{}); err != nil {
			t.Fatal(err)
		}
		listing.WriteByte('\n')
	}
	again, diags := compile.AssembleAll(diag.NewSource("listing", listing.String()))
	if err := diags.Err(); err != nil {
		t.Fatalf("%v\n%s", err, listing.String())
	}
	if len(again) != len(programs) {
		t.Fatalf("%d programs became %d", len(programs), len(again))
	}
	for i, p := range programs {
		want, err := p.MarshalBinary()
		got, errAgain := again[i].MarshalBinary()
		if err != nil || errAgain != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is assembled to something else, %v, %v", p.Name, err, errAgain)
		}
		if diags := compile.Verify(again[i]); diags.HasErrors() {
			t.Errorf("%s is refused when assembled: %v", p.Name, diags)
		}
	}
}

// TestSamplesAssembleToTheSameBytes does so for every sample.
func TestSamplesAssembleToTheSameBytes(t *testing.T) {
	all, err := samples.All()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		if filepath.Ext(s.File) != ".js" {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			loaded, list := script.Load(script.Options{Name: s.File, Text: s.Text, Std: stdlib.Files(), Check: true, Unsafe: true})
			if err := list.Err(); err != nil {
				t.Fatal(err)
			}
			defer loaded.Close()
			checked, list := loaded.Check()
			if err := list.Err(); err != nil {
				t.Fatal(err)
			}
			var programs []*compile.Program
			for _, p := range checked {
				programs = append(programs, p.Program)
			}
			if len(programs) > 0 {
				sameAgain(t, programs)
			}
		})
	}
}

// TestDefinitionsAssembleToTheSameBytes does so for every definition file of the transcripts
// that is right.
func TestDefinitionsAssembleToTheSameBytes(t *testing.T) {
	transcripts, err := filepath.Glob("../cmd/gotap/testdata/*.txtar")
	if err != nil || len(transcripts) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	files := 0
	for _, path := range transcripts {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		archive := txtar.Parse(data)
		open := func(name string) ([]byte, error) {
			for _, f := range archive.Files {
				if f.Name == name {
					return f.Data, nil
				}
			}
			return nil, os.ErrNotExist
		}
		for _, f := range archive.Files {
			if filepath.Ext(f.Name) != ".dpdf" {
				continue
			}
			a, err := arena.New(arena.Options{Size: 16 << 20})
			if err != nil {
				t.Fatal(err)
			}
			defer a.Close()
			file, diags := dpdf.Parse(diag.NewSource(f.Name, string(f.Data)), dpdf.Options{Arena: a, Open: open, Defs: map[string]string{"LIMIT": "1"}})
			if diags.HasErrors() {
				continue // it is there to be refused
			}
			var programs []*compile.Program
			for _, p := range file.Probes {
				programs = append(programs, p.Program)
			}
			sameAgain(t, programs)
			files++
		}
	}
	if files < 5 {
		t.Errorf("only %d definition files", files)
	}
}
