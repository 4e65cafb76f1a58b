package fallback

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"gotap/engine/testenv"
	"gotap/engine/testenv/fixture"
)

// TestSentWithoutTracer runs the handlers: a SIGTRAP that was sent to a thread which blocks all others becomes pending
// with its siginfo, unless it has a tracer's mark; every other one is the program's.
func TestSentWithoutTracer(t *testing.T) {
	const base = 0x20000000
	for name, c := range map[string]struct {
		native *Native
		needs  []testenv.Need
		gcc    []string
		run    []string
	}{
		"amd64": {AMD64, []testenv.Need{testenv.AMD64, testenv.GCC}, []string{"gcc"}, nil},
		"arm64": {ARM64, []testenv.Need{testenv.GCCARM64, testenv.QEMUARM64}, []string{"aarch64-linux-gnu-gcc", "-static"}, []string{"qemu-aarch64"}},
		"arm":   {ARM, []testenv.Need{testenv.GCCARM, testenv.QEMUARM}, []string{"arm-linux-gnueabihf-gcc", "-static"}, []string{"qemu-arm"}},
	} {
		t.Run(name, func(t *testing.T) {
			testenv.Require(t, c.needs...)
			page, program := filepath.Join(t.TempDir(), "page"), filepath.Join(t.TempDir(), "sent")
			if err := os.WriteFile(page, c.native.Page(base, Action{}), 0o600); err != nil {
				t.Fatal(err)
			}
			build := append(c.gcc, "-O1", "-o", program, "testdata/sent.c")
			if out, err := fixture.Command(build[0], build[1:]...).CombinedOutput(); err != nil {
				t.Fatalf("%v: %v\n%s", build, err, out)
			}
			run := append(c.run, program, page)
			if out, err := exec.Command(run[0], run[1:]...).CombinedOutput(); err != nil || string(out) != "done\n" {
				t.Errorf("%v: %v\n%s", run, err, out)
			}
		})
	}
}
