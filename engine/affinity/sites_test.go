package affinity

import (
	"bufio"
	"bytes"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gotap/engine/image/module"
	"gotap/engine/testenv"
	"gotap/engine/testenv/fixture"
)

// libraries are files that contain system calls.
func libraries(t testing.TB) (found []string) {
	t.Helper()
	for _, pattern := range []string{"/lib/x86_64-linux-gnu/libc.so.6", "/lib64/ld-linux-x86-64.so.2", "/usr/lib/x86_64-linux-gnu/libgomp.so.1",
		"/lib/ld-musl-x86_64.so.1", "/usr/lib/ld-musl-x86_64.so.1", "/usr/lib/x86_64-linux-gnu/libnuma.so.1", "/lib64/libc.so.6"} {
		list, _ := filepath.Glob(pattern)
		for _, path := range list {
			if real, err := filepath.EvalSymlinks(path); err == nil && !slices.Contains(found, real) {
				found = append(found, real)
			}
		}
	}
	if len(found) == 0 {
		testenv.Lack(t, testenv.Libraries)
	}
	return found
}

// disassembled returns the addresses of all syscall instructions as objdump has them, and of those that a number of
// ours is loaded for in the few lines before.
func disassembled(t *testing.T, path string) (all, ours []uint64) {
	t.Helper()
	out, err := exec.Command("objdump", "-d", "--no-show-raw-insn", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	load := regexp.MustCompile(`mov +\$0xc[bc],%[er]?ax`)
	since := 100
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		since++
		if load.MatchString(lines.Text()) {
			since = 0
		}
		address, insn, _ := strings.Cut(lines.Text(), ":\t")
		if !strings.HasPrefix(strings.TrimSpace(insn), "syscall") {
			continue
		}
		v, err := strconv.ParseUint(strings.TrimSpace(address), 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, v)
		if since < 8 {
			ours = append(ours, v)
		}
		since = 100
	}
	return all, ours
}

// TestSitesOfLibraries compares with objdump: every call for which one of the two numbers is loaded is found, and so is
// syscall(2); all that is found is an instruction.
func TestSitesOfLibraries(t *testing.T) {
	testenv.Require(t, testenv.AMD64, testenv.Objdump)
	for _, path := range libraries(t) {
		f, err := module.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		began := time.Now()
		sites, err := findSites(f, strings.Contains(path, "libc") || strings.Contains(path, "ld-linux"))
		took := time.Since(began)
		if err != nil && strings.Contains(path, "musl") { // Debian's has neither symbols nor unwinding tables
			t.Log(err)
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		all, ours := disassembled(t, path)
		for _, s := range sites {
			if !s.Entry && !slices.Contains(all, s.Addr) {
				t.Errorf("%s: %#x is not a system call", path, s.Addr)
			}
		}
		for _, at := range ours {
			if !slices.ContainsFunc(sites, func(s Site) bool { return s.Addr == at && !s.Entry }) {
				t.Errorf("%s: the call at %#x is not found", path, at)
			}
		}
		for _, m := range f.Lookup("syscall") {
			if !slices.ContainsFunc(sites, func(s Site) bool { return s.Entry && s.Addr == m.Func.Addr }) {
				t.Errorf("%s: syscall(2) is not found", path)
			}
		}
		t.Logf("%s: %d system calls, %d places are watched; %v", path, len(all), len(sites), took)
	}
}

// TestOpenCalls: a program with a system call of its own that any number may be passed to is refused.
func TestOpenCalls(t *testing.T) {
	testenv.Require(t, testenv.AMD64, testenv.GCC)
	const any = `long any(long n, long a) { long r; __asm__ volatile("syscall" : "=a"(r) : "0"(n), "D"(a) : "rcx", "r11", "memory"); return r; }`
	const one = `long one(long n, long a) { long r; __asm__ volatile("syscall" : "=a"(r) : "0"(39L), "D"(a) : "rcx", "r11", "memory"); return r; }`
	for source, refused := range map[string]bool{any: true, one: false} {
		for _, level := range []string{"-O0", "-O2", "-Os"} {
			path := filepath.Join(t.TempDir(), "lib.so")
			cmd := fixture.Command("gcc", level, "-shared", "-fPIC", "-x", "c", "-", "-o", path)
			cmd.Stdin = strings.NewReader(source)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			f, err := module.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			if sites, err := findSites(f, false); (err != nil) != refused || len(sites) != 0 {
				t.Errorf("%s %s: %d places, %v", level, source, len(sites), err)
			}
			f.Close()
		}
	}
}
