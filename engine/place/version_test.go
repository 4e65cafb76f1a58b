package place

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gotap/engine/image/module"
	"gotap/engine/testenv"
)

// TestVersions: FUNCTION@VERSION is the function of that version of its symbol, @@VERSION only the default.
func TestVersions(t *testing.T) {
	testenv.Require(t, testenv.GCC)
	dir := t.TempDir()
	for name, text := range map[string]string{
		"lib.c": `__asm__(".symver old_f, f@V_1"); __asm__(".symver new_f, f@@V_2.c"); __asm__(".symver old_f, g@V_1"); __asm__(".symver old_f, g@@V_2.c");
int old_f(void) { return 1; } int new_f(void) { return 2; } int h(void) { return 3; } int *v(void) { static int w; return &w; }`,
		"lib.map": "V_1 { global: f; g; h; local: *; }; V_2.c { global: f; g; } V_1;",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	lib := filepath.Join(dir, "lib.so")
	cmd := exec.Command("gcc", "-g", "-O0", "-shared", "-fPIC", "-Wl,--version-script=lib.map", "-o", lib, "lib.c")
	cmd.Dir = dir
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	f := open(t, lib)
	at := func(name string) uint64 {
		found := f.Lookup(name)
		if len(found) != 1 {
			t.Fatalf("%s: %+v", name, found)
		}
		return found[0].Func.Addr
	}
	old, latest := at("old_f"), at("new_f")
	for text, want := range map[string][]uint64{
		"f@V_1": {old}, "f@V_2.c": {latest}, "f@@V_2.c": {latest}, "f@@V_1": nil, "f": {old, latest}, "f@V_3": nil, "g@V_1": {old}, "g@@V_2.c": {old},
		"f@lib.c": {old, latest}, "old_f@lib.c": {old}, "new_f@V_1": nil, "[fg]@V_1": {old}, "f@V_1+0x1": {old + 1}, "h@V_1": {at("h")}, `exported("f@V_1")`: nil,
	} {
		s, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		found, err := (&Resolver{Lines: inOneFile}).Resolve(s, f)
		var got []uint64
		for _, target := range found {
			got = append(got, target.Vaddr)
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) || (err == nil) != (want != nil) {
			t.Errorf("%s: %#x, %v; want %#x", text, got, err, want)
		}
	}
	var lines []string
	s, _ := Parse("*")
	list, err := (&Resolver{}).List(s, f)
	for _, l := range list {
		lines = append(lines, strings.TrimPrefix(l.Text, lib+":"))
	}
	for _, want := range []string{"f@V_1", "f@@V_2.c", "g", "h"} {
		if !slices.Contains(lines, want) {
			t.Errorf("%s is not listed: %q, %v", want, lines, err)
		}
	}
	if slices.Contains(lines, "f") {
		t.Errorf("f is listed without its version: %q", lines)
	}
}

// oneFile is debug information that declares all functions in one source file.
type oneFile struct{}

func inOneFile(*module.File) (Lines, error) { return oneFile{}, nil }

func (oneFile) AddrsOf(string, int) ([]uint64, []int, error)            { return nil, nil, nil }
func (oneFile) PlacesIn(string, int, int, int) ([]uint64, []int, error) { return nil, nil, nil }
func (oneFile) Declared(uint64) (string, int, error)                    { return "/src/lib.c", 1, nil }

// TestVersionsOfLibrary asks for every function of the C library that readelf lists with a version.
func TestVersionsOfLibrary(t *testing.T) {
	testenv.Require(t, testenv.GCC, testenv.Readelf)
	text, err := exec.Command("gcc", "-print-file-name=libc.so.6").Output()
	if err != nil {
		t.Fatal(err)
	}
	f := open(t, strings.TrimSpace(string(text)))
	cmd := exec.Command("readelf", "--dyn-syms", "-W", f.Path)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if len(fields) < 8 || fields[3] != "FUNC" && fields[3] != "IFUNC" || fields[6] == "UND" || !strings.Contains(fields[7], "@") {
			continue
		}
		want, err := strconv.ParseUint(fields[1], 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Parse(fields[7])
		if err != nil {
			t.Errorf("%s: %v", fields[7], err)
			continue
		}
		found, err := (&Resolver{}).Resolve(s, f)
		if err != nil || len(found) != 1 || found[0].Vaddr != want {
			t.Errorf("%s: %+v, %v; readelf has %#x", fields[7], found, err, want)
		}
		checked++
	}
	if checked < 1000 {
		t.Errorf("only %d functions were checked", checked)
	}
}
