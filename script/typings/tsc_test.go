package typings

import (
	"cmp"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"gotap/engine/testenv"
	"gotap/samples"
	"gotap/stdlib"
)

// project is a folder as gotap init makes it, with everything that has to check, and with what must not.
func project(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	put(t, filepath.Join(dir, "gotap.d.ts"), Text())
	put(t, filepath.Join(dir, "jsconfig.json"), Config)
	all, err := samples.All()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		put(t, filepath.Join(dir, "samples", s.File), s.Text)
	}
	copyScripts(t, stdlib.Files(), filepath.Join(dir, "stdlib"))
	copyScripts(t, os.DirFS("testdata"), filepath.Join(dir, "testdata"))
	return dir
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// copyScripts copies the scripts of a folder.
func copyScripts(t *testing.T, from fs.FS, to string) {
	t.Helper()
	for _, pattern := range []string{"*.js", "*.ts"} {
		names, err := fs.Glob(from, pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			text, err := fs.ReadFile(from, name)
			if err != nil {
				t.Fatal(err)
			}
			put(t, filepath.Join(to, name), string(text))
		}
	}
}

// check runs tsc in a folder and fails with its complaints.
func check(t *testing.T, dir string, flags ...string) {
	t.Helper()
	cmd := exec.Command(cmp.Or(os.Getenv("GOTAP_TSC"), "tsc"), append([]string{"-p", "jsconfig.json"}, flags...)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s: %v\n%s", cmd, err, out)
	}
}

// The samples, the library and the scripts of testdata check as the project of a user does.
func TestScriptsCheck(t *testing.T) {
	testenv.Require(t, testenv.TSC)
	check(t, project(t))
}

// They check strictly too, but for parameters of functions without a type, which scripts are not asked to give.
func TestScriptsCheckStrictly(t *testing.T) {
	testenv.Require(t, testenv.TSC)
	check(t, project(t), "--strict", "--noImplicitAny", "false", "--skipLibCheck", "false")
}

// What a script writes in the style of the manual needs no types to be strict.
func TestManualChecksStrictly(t *testing.T) {
	testenv.Require(t, testenv.TSC)
	dir := project(t)
	for _, folder := range []string{"samples", "stdlib"} {
		if err := os.RemoveAll(filepath.Join(dir, folder)); err != nil {
			t.Fatal(err)
		}
	}
	check(t, dir, "--strict")
}
