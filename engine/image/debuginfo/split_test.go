package debuginfo_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"gotap/engine/image/debuginfo"
	"gotap/engine/testenv"
)

// farm is a program of C and C++, which are units with different languages.
type farm struct {
	cc, cxx string
	flags   string
}

// build builds the program in a new folder.
func (f farm) build(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	source, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	script := strings.NewReplacer("CXX", f.cxx+" -g -O2 -w -std=c++17 "+f.flags, "CC", f.cc+" -g -O2 -w "+f.flags, "SRC", source).Replace(
		"CC -Dmain=values_main -c SRC/values.c && CC -Dmain=inlined_main -c SRC/inlined.c && CXX -fno-exceptions -c SRC/farm.cc && " +
			f.cxx + " -o program values.o inlined.o farm.o")
	cmd := exec.Command("sh", "-c", script)
	cmd.Dir = dir
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", script, err, text)
	}
	return filepath.Join(dir, "program")
}

// wholes are farms that were built once for all tests, with what is known of them.
var wholes struct {
	sync.Mutex
	of map[farm]*whole
}

type whole struct {
	sync.Once
	dir  string // of the program, which nobody changes; "": it could not be built
	want []string
}

// whole returns the folder of the program and what is known of it.
func (f farm) whole(t testing.TB) (dir string, want []string) {
	t.Helper()
	wholes.Lock()
	w := wholes.of[f]
	if w == nil {
		w = &whole{}
		if wholes.of == nil {
			wholes.of = map[farm]*whole{}
		}
		wholes.of[f] = w
	}
	wholes.Unlock()
	w.Do(func() {
		path := f.build(t)
		w.want = answers(t, openWhole(t, path))
		kept, err := os.MkdirTemp("", "gotap-farm-")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS(kept, os.DirFS(filepath.Dir(path))); err != nil {
			t.Fatal(err)
		}
		w.dir = kept
	})
	if w.dir == "" {
		t.Fatal("the program could not be built")
	}
	return w.dir, w.want
}

func TestMain(m *testing.M) {
	code := m.Run()
	for _, w := range wholes.of {
		os.RemoveAll(w.dir)
	}
	os.Exit(code)
}

// TestSplitIsLikeWhole compares what is known of programs whose debug information is split off with what is known of
// the same programs with whole debug information.
func TestSplitIsLikeWhole(t *testing.T) {
	testenv.Require(t, testenv.GXX, testenv.Clang, testenv.DWP, testenv.LLVMDwp)
	const types = " -fdebug-types-section"
	for _, build := range some(5, []struct {
		cc, cxx, flags string
		pack           string // the program that packs all .dwo files into one; GNU's of Debian 12 cannot for DWARF 5
	}{
		{"gcc", "g++", "-gdwarf-4", "dwp"},
		{"gcc", "g++", "-gdwarf-5", ""},
		{"gcc", "g++", "-gdwarf-5" + types, ""},
		{"gcc", "g++", "-gdwarf-4" + types, "dwp"},
		{"clang", "clang++", "-gdwarf-4", "llvm-dwp"},
		{"clang", "clang++", "-gdwarf-5", "llvm-dwp"},
		{"clang", "clang++", "-gdwarf-5" + types, "llvm-dwp"},
	}) {
		t.Run(build.cc+" "+build.flags, func(t *testing.T) {
			t.Parallel()
			_, want := farm{build.cc, build.cxx, build.flags}.whole(t)
			split := farm{build.cc, build.cxx, build.flags + " -gsplit-dwarf"}.build(t)
			compareWhole(t, "files", split, want)
			if build.pack == "" {
				return
			}
			pack := exec.Command("sh", "-c", build.pack+" -e program -o program.dwp && rm *.dwo")
			pack.Dir = filepath.Dir(split)
			if text, err := pack.CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", build.pack, err, text)
			}
			compareWhole(t, "package", split, want)
		})
	}
}

// compareWhole compares what is known of a program with split debug information with what has to be known.
func compareWhole(t *testing.T, name, path string, want []string) {
	t.Helper()
	p := openWhole(t, path)
	got := answers(t, p)
	if missing := p.info.Missing(); len(missing) > 0 {
		t.Errorf("%s: missing: %v", name, missing)
	}
	compareAnswers(t, name, got, want, 1000)
}

// TestSplitFileIsMissing asks programs whose .dwo files are away, or of another build. Lines are known without them.
func TestSplitFileIsMissing(t *testing.T) {
	testenv.Require(t, testenv.GXX)
	for _, version := range []string{"-gdwarf-5", "-gdwarf-4"} {
		path := farm{"gcc", "g++", version + " -gsplit-dwarf"}.build(t)
		dir := filepath.Dir(path)
		if err := os.Remove(filepath.Join(dir, "values.dwo")); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(filepath.Join(dir, "farm.dwo"), filepath.Join(dir, "inlined.dwo")); err != nil {
			t.Fatal(err)
		}
		p := openWhole(t, path)
		for function, want := range map[string]string{
			"walk":  "a part of the debug information of program is in " + dir + "/values.dwo, which is missing",
			"first": "a part of the debug information of program is in " + dir + "/inlined.dwo, which is of another build",
		} {
			var missing *debuginfo.MissingError
			at := p.address(t, function)
			if _, err := p.info.Signature(at); !errors.As(err, &missing) || !errors.Is(err, debuginfo.ErrSplit) || err.Error() != want {
				t.Errorf("%s: %v", function, err)
			}
			if frames, err := p.info.FramesAt(at); err != nil || frames[0].Line == 0 || frames[0].Func != "" {
				t.Errorf("%s is at %+v, %v", function, frames, err)
			}
		}
		if addrs, _, err := p.info.AddrsOf("values.c", 41); err != nil || len(addrs) == 0 {
			t.Errorf("a line is at %x, %v", addrs, err)
		}
		if n := len(p.info.Missing()); n != 2 {
			t.Errorf("%d files are missing", n)
		}
	}
}
