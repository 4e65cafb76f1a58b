package main

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// allowed says which folders a folder may import, besides itself. Imports go one way: script → compile → runtime,
// engine → arch, runtime, compile; cmd joins them.
var allowed = map[string][]string{
	"arch":    {},
	"runtime": {},
	"compile": {"runtime"},
	"script":  {"compile", "runtime"},
	"engine":  {"arch", "runtime", "compile"},
	"stdlib":  {},
	"samples": {},
	"cmd":     {"arch", "runtime", "compile", "script", "engine", "stdlib", "samples"},
}

// owners says which folders may use a module that everything else must not know of.
var owners = map[string][]string{
	"github.com/dop251/goja":       {"script", "compile"},
	"github.com/evanw/esbuild":     {"script"},
	"github.com/spf13/cobra":       {"cmd"},
	"github.com/fsnotify/fsnotify": {"cmd"},
}

type listedPackage struct {
	ImportPath string
	Imports    []string
}

func listPackages(t *testing.T) []listedPackage {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "gotap/...").Output()
	if err != nil {
		t.Fatalf("cannot list the packages: %v", err)
	}
	var all []listedPackage
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listedPackage
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// folder is the top-level folder of a package of this module.
func folder(path string) (string, bool) {
	rest, mine := strings.CutPrefix(path, "gotap/")
	top, _, _ := strings.Cut(rest, "/")
	return top, mine
}

func TestImportsGoOneWay(t *testing.T) {
	packages := listPackages(t)
	if len(packages) < len(allowed) {
		t.Fatalf("only %d packages were listed", len(packages))
	}
	for _, p := range packages {
		from, _ := folder(p.ImportPath)
		may, known := allowed[from]
		if !known {
			t.Errorf("%s: the folder %s has no rule", p.ImportPath, from)
		}
		for _, i := range p.Imports {
			to, mine := folder(i)
			if mine && to != from && !slices.Contains(may, to) {
				t.Errorf("%s must not import %s", p.ImportPath, i)
			}
			for module, who := range owners {
				if strings.HasPrefix(i, module) && !slices.Contains(who, from) {
					t.Errorf("%s must not use %s", p.ImportPath, i)
				}
			}
		}
	}
}
