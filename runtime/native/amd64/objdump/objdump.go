// Package objdump disassembles x86-64 code for tests, by the program objdump, which the test has to require.
package objdump

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Lines returns what objdump shows for code at an address, one line for each instruction, in Intel's syntax and without
// addresses.
func Lines(t testing.TB, code []byte, at uint64) []string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "code")
	if err := os.WriteFile(file, code, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("objdump", "-D", "-b", "binary", "-m", "i386:x86-64", "-M", "intel", "--no-show-raw-insn",
		"--adjust-vma="+fmt.Sprintf("%#x", at), file).Output()
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(string(out)) {
		if addr, text, ok := strings.Cut(line, ":\t"); ok && strings.TrimSpace(addr) != "" {
			lines = append(lines, strings.TrimSpace(text))
		}
	}
	return lines
}
