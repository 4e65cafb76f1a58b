package trial_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gotap/engine/linux/debugreg/trial"
	"gotap/engine/testenv"
	"gotap/engine/testenv/fixture"
)

// TestCheckAgreesWithGDB: where gdb's hardware watchpoint stops a program, the trial finds that they are reported, and
// nowhere else.
func TestCheckAgreesWithGDB(t *testing.T) {
	testenv.Require(t, testenv.AMD64, testenv.Ptrace, testenv.GCC, testenv.GDB)
	dir := t.TempDir()
	source, path := filepath.Join(dir, "cell.c"), filepath.Join(dir, "cell")
	if err := os.WriteFile(source, []byte("volatile long cell; int main(void) { cell = 7; return cell != 7; }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := fixture.Command("gcc", "-g", "-O1", "-o", path, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	gdb := exec.Command("gdb", "-nx", "-batch", "-ex", "break main", "-ex", "run", "-ex", "watch cell", "-ex", "continue", path)
	gdb.Env = append(os.Environ(), "DEBUGINFOD_URLS=")
	out, err := gdb.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "Hardware watchpoint") {
		t.Fatalf("gdb: %v\n%s", err, out)
	}
	stops := strings.Contains(string(out), "New value = 7")
	if err := trial.Watchpoint(); (err == nil) != stops {
		t.Errorf("%v; gdb says\n%s", err, out)
	}
}
