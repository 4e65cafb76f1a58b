package module

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gotap/engine/image/symtab"
	"gotap/engine/testenv"
	"gotap/engine/testenv/fixture"
)

// build compiles sources of testdata into a program below the test's directory.
func build(t testing.TB, compiler string, args ...string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "prog")
	full := append([]string{"-o", out}, args...)
	for i, a := range full {
		if strings.HasSuffix(a, ".c") || strings.HasSuffix(a, ".cc") || strings.HasSuffix(a, ".rs") {
			full[i] = filepath.Join("testdata", a)
		}
	}
	if said, err := fixture.Command(compiler, full...).CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v\n%s", compiler, full, err, said)
	}
	return out
}

// command runs a tool and returns what it says.
func command(t testing.TB, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	out, err := cmd.Output()
	if err != nil {
		if e, ok := err.(*exec.ExitError); ok {
			t.Fatalf("%s %v: %v\n%s", name, args, err, e.Stderr)
		}
		t.Fatalf("%s %v: %v", name, args, err)
	}
	return string(out)
}

// open opens a module until the end of the test.
func open(t testing.TB, path string) *File {
	t.Helper()
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// empty returns a file without sections and segments.
func empty(machine elf.Machine, bits int) *File {
	f := &File{Machine: machine, Bits: bits, elf: &elf.File{}, image: &symtab.Image{Machine: machine, Bits: bits}}
	f.Table = symtab.New(symbolOrigin{f})
	return f
}

// library is the path of a shared library that this test program's system has.
func library(t testing.TB, name string) string {
	t.Helper()
	testenv.Require(t, testenv.GXX)
	path := strings.TrimSpace(command(t, "g++", "-print-file-name="+name))
	if !filepath.IsAbs(path) {
		t.Fatalf("the compiler has no %s", name)
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		t.Fatal(err)
	}
	return real
}

// nmSymbol is one line of nm -S.
type nmSymbol struct {
	name       string
	addr, size uint64
	typ        string
}

var nmLine = regexp.MustCompile(`^([0-9a-f]+) (?:([0-9a-f]+) )?([A-Za-z]) (\S+)$`)

// nm lists the definitions that nm prints.
func nm(t testing.TB, path string, flags ...string) []nmSymbol {
	t.Helper()
	testenv.Require(t, testenv.NM)
	var found []nmSymbol
	for _, line := range strings.Split(command(t, "nm", append(append([]string{"-S"}, flags...), path)...), "\n") {
		m := nmLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		addr, _ := strconv.ParseUint(m[1], 16, 64)
		size, _ := strconv.ParseUint(m[2], 16, 64)
		name, _, _ := strings.Cut(m[4], "@")
		found = append(found, nmSymbol{name, addr, size, m[3]})
	}
	return found
}

// variant is a way to build a program.
type variant struct {
	name  string
	needs []testenv.Need
	flags []string
}

// m32 makes 32-bit programs; kernel headers may exist for the native word size only.
var m32 = []string{"-m32", "-idirafter", "/usr/include/x86_64-linux-gnu"}

var variants = []variant{
	{"pie", nil, []string{"-O2"}},
	{"fixed", nil, []string{"-O2", "-no-pie", "-fno-pie"}},
	{"static", nil, []string{"-O2", "-static"}},
	{"O0", nil, []string{"-O0", "-g"}},
	{"32", []testenv.Need{testenv.M32}, append([]string{"-O2"}, m32...)},
}

// variantsBuilt are the programs that eachVariant has built, for further tests.
var variantsBuilt = map[string][]byte{}

// eachVariant builds sources in all ways and runs a test on each.
func eachVariant(t *testing.T, sources []string, check func(t *testing.T, path string)) {
	testenv.Require(t, testenv.GCC)
	for _, v := range variants {
		t.Run(v.name, func(t *testing.T) {
			testenv.Require(t, v.needs...)
			key := v.name + " " + strings.Join(sources, " ")
			if _, built := variantsBuilt[key]; !built {
				program, err := os.ReadFile(build(t, "gcc", slices.Concat(v.flags, sources)...))
				if err != nil {
					t.Fatal(err)
				}
				variantsBuilt[key] = program
			}
			path := filepath.Join(t.TempDir(), "prog")
			if err := os.WriteFile(path, variantsBuilt[key], 0o700); err != nil {
				t.Fatal(err)
			}
			check(t, path)
		})
	}
}
