package syscallnames

import (
	"debug/elf"
	"errors"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"gotap/compile"
	"gotap/engine/testenv"
)

// TestNamesOfHeaders: the numbers are those that the C library's headers give to compilers.
func TestNamesOfHeaders(t *testing.T) {
	testenv.Require(t, testenv.GCC, testenv.GCCARM, testenv.GCCARM64)
	for machine, compiler := range map[elf.Machine]string{elf.EM_X86_64: "gcc", elf.EM_ARM: "arm-linux-gnueabihf-gcc", elf.EM_AARCH64: "aarch64-linux-gnu-gcc"} {
		names := Names(machine)
		known := map[string]int{}
		for number, name := range names {
			if name != "" {
				known[name] = number
			}
		}
		n := 0
		for name, number := range headerNumbers(t, compiler) {
			if got, ok := known[name]; ok {
				if n++; got != number {
					t.Errorf("%v: %s is %d, not %d", machine, name, number, got)
				}
			}
		}
		if n < 250 {
			t.Errorf("%v: the headers have only %d of the names", machine, n)
		}
	}
	if Names(elf.EM_MIPS) != nil {
		t.Error("a processor that nothing is known of has names")
	}
}

// headerNumbers asks a compiler's preprocessor for the numbers of system calls.
func headerNumbers(t *testing.T, compiler string) map[string]int {
	cmd := exec.Command(compiler, "-E", "-dM", "-x", "c", "-")
	cmd.Stdin = strings.NewReader("#include <sys/syscall.h>\n")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", compiler, err)
	}
	all := map[string]int{}
	for _, m := range regexp.MustCompile(`(?m)^#define __NR_(\w+) (?:\(__NR_SYSCALL_BASE ?\+ ?)?(\d+)\)?$`).FindAllStringSubmatch(string(out), -1) {
		all[m[1]], _ = strconv.Atoi(m[2])
	}
	return all
}

func TestAccess(t *testing.T) {
	if got := Signature("openat"); got != "openat(int dfd, const char *filename, int flags, umode_t mode)" {
		t.Errorf("openat is listed as %s", got)
	}
	a, err := Access("openat", []string{"filename"})
	if err != nil || a.Base != compile.BaseArg || a.Value != 1 || a.Steps != nil {
		t.Errorf("filename of openat: %+v, %v", a, err)
	}
	if a, err := Access("openat", []string{"dfd"}); err != nil || len(a.Steps) != 1 || !a.Steps[0].Signed {
		t.Errorf("dfd of openat is not cut to its type: %+v, %v", a, err)
	}
	for _, c := range []struct {
		call string
		path []string
		want string
	}{
		{"openat", []string{"name"}, "there are dfd, filename, flags, mode"},
		{"openat", []string{"filename", "x"}, "members of filename"},
		{"no_such_call", []string{"x"}, "c.arg0 to c.arg5"},
	} {
		if _, err := Access(c.call, c.path); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s of %s: %v", c.path, c.call, errors.Unwrap(err))
		}
	}
}
