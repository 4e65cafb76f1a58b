package testenv

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// GoProgram builds the Go program in a folder, whose go.mod is called go.mod.txt there so that it is no part of this
// module, and returns the path of the program. The paths in its debug information are trimmed as in what `make test`
// builds, so that both share the compiled standard library.
func GoProgram(t testing.TB, folder string, env []string, flags ...string) string {
	t.Helper()
	Require(t, "go")
	dir, out := filepath.Join(t.TempDir(), "src"), filepath.Join(t.TempDir(), "prog")
	if err := os.CopyFS(dir, os.DirFS(folder)); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(dir, "go.mod.txt"), filepath.Join(dir, "go.mod")); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", slices.Concat([]string{"build", "-C", dir, "-o", out}, flags, []string{"."})...)
	cmd.Env = slices.Concat(os.Environ(), []string{"GOFLAGS=-mod=mod -trimpath", "GOTOOLCHAIN=local", "GOWORK=off", "CGO_ENABLED=0"}, env)
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return out
}
