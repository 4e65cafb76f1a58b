package procfs

import (
	"os"
	"path/filepath"
	"testing"
)

// TestPathsInRoots resolves links as a process with the root would: the kernel resolves those below /proc/PID/root in
// the root of who asks.
func TestPathsInRoots(t *testing.T) {
	root := t.TempDir()
	for _, dir := range []string{"usr/lib", "opt"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{
		"lib": "usr/lib", "opt/abs": "/usr/lib/x.so", "opt/up": "../../../../usr/lib", "opt/loop": "loop", "usr/lib/l.so": "x.so", "opt/twice": "/opt/up/l.so",
	} {
		if err := os.Symlink(to, filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{
		"/usr/lib/x.so": "/usr/lib/x.so", "/lib/x.so": "/usr/lib/x.so", "/opt/abs": "/usr/lib/x.so", "/opt/up/x.so": "/usr/lib/x.so",
		"/opt/twice": "/usr/lib/x.so", "/opt/../lib//l.so": "/usr/lib/x.so", "/opt/loop/x": "/opt/loop/x", "/none/x": "/none/x", "/../..": "/",
	} {
		if got := resolve(root, name); got != want {
			t.Errorf("%s is %s, not %s", name, got, want)
		}
	}
	if r, inside, ok := InRoot("/proc/self/root/proc/self/exe/.."); !ok || r != "/proc/self/root" || inside == "" {
		t.Errorf("%s, %s, %v", r, inside, ok)
	}
	if _, _, ok := InRoot("/proc/self/rooted/x"); ok {
		t.Error("another path is in a root")
	}
}
