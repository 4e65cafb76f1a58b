package static

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotap/engine/testenv"
)

// TestPlainBuild builds gotap as "go build" does without cgo, and in long runs as it does where a C compiler is
// installed, with cgo. Neither program may ask for a dynamic linker or a shared library.
func TestPlainBuild(t *testing.T) {
	settings := []string{"CGO_ENABLED=0"}
	if os.Getenv("GOTAP_LONG") != "" { // compiles all packages with cgo
		testenv.Require(t, testenv.GCC)
		settings = append(settings, "CGO_ENABLED=1")
	}
	for _, env := range settings {
		t.Run(env, func(t *testing.T) { checkStatic(t, build(t, "gotap/cmd/gotap", env, "--version")) })
	}
}

// TestWithCgo does the same for a small program, which takes less time, and makes sure that it uses what gotap uses.
func TestWithCgo(t *testing.T) {
	testenv.Require(t, testenv.GCC)
	const program = "gotap/cmd/gotap/static/testdata/resolver"
	checkStatic(t, build(t, program, "CGO_ENABLED=1"))
	want, got := usingCgo(t, "gotap/cmd/gotap"), usingCgo(t, program)
	if len(want) < 3 || !slices.Equal(got, want) {
		t.Errorf("cgo is used by %v, in gotap by %v", got, want)
	}
}

// usingCgo lists the packages of a program that use cgo, if it is on.
func usingCgo(t *testing.T, program string) []string {
	t.Helper()
	cmd := exec.Command("go", "list", "-deps", "-f", "{{if .CgoFiles}}{{.ImportPath}}{{end}}", program)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=1")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	list := strings.Fields(string(out))
	slices.Sort(list)
	return list
}

// build returns the path of a program, which it has run once with the arguments.
func build(t *testing.T, program, env string, args ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program")
	cmd := exec.Command("go", "build", "-o", path, program)
	cmd.Env = append(os.Environ(), env)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	if out, err := exec.Command(path, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", program, err, out)
	}
	return path
}

func checkStatic(t *testing.T, path string) {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC {
			t.Errorf("the program has a %v segment", p.Type)
		}
	}
	if libs, err := f.ImportedLibraries(); err == nil && len(libs) > 0 {
		t.Errorf("the program needs %v", libs)
	}
}
