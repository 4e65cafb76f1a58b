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

// disassembled returns the addresses of all syscall instructions as objdump has them, and of those that a number of ours is
// loaded for in the few lines before.
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
		sites, err := findSites(f, strings.Contains(path, "libc"))
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
		open := 0
		for _, s := range sites {
			if !slices.Contains(all, s.Addr) {
				t.Errorf("%s: %#x is not a system call", path, s.Addr)
			}
			if s.Open {
				open++
			}
		}
		for _, at := range ours {
			if !slices.ContainsFunc(sites, func(s Site) bool { return s.Addr == at && !s.Open }) {
				t.Errorf("%s: the call at %#x is not found", path, at)
			}
		}
		for _, m := range f.Lookup("syscall") {
			if !slices.ContainsFunc(sites, func(s Site) bool { return s.Open && s.Addr > m.Func.Addr && s.Addr < m.Func.End() }) {
				t.Errorf("%s: syscall(2) is not found", path)
			}
		}
		t.Logf("%s: %d system calls, %d are watched, %d of them with any number; %v", path, len(all), len(sites), open, took)
	}
}
