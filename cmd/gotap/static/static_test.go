package static

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"gotap/engine/testenv"
)

// TestPlainBuild builds gotap as "go build" does where a C compiler is installed, with cgo, and without it. Neither
// program may ask for a dynamic linker or a shared library.
func TestPlainBuild(t *testing.T) {
	for _, cgo := range []string{"0", "1"} {
		t.Run("CGO_ENABLED="+cgo, func(t *testing.T) {
			if cgo == "1" {
				testenv.Require(t, testenv.GCC)
			}
			checkStatic(t, build(t, "CGO_ENABLED="+cgo))
		})
	}
}

// build returns the path of the program, which it has run once.
func build(t *testing.T, env string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "gotap")
	cmd := exec.Command("go", "build", "-o", path, "gotap/cmd/gotap")
	cmd.Env = append(os.Environ(), env)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	if out, err := exec.Command(path, "--version").CombinedOutput(); err != nil {
		t.Fatalf("gotap --version: %v\n%s", err, out)
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
