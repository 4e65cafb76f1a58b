package debuginfo_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"gotap/engine/image/debuginfo"
	"gotap/engine/testenv"
)

// TestCompressedIsLikePlain compares what is known of programs before and after dwz has moved what units, or programs,
// have in common to partial units, or to a supplementary file.
func TestCompressedIsLikePlain(t *testing.T) {
	testenv.Require(t, testenv.GXX, testenv.Clang, testenv.DWZ)
	for _, c := range some(3, []struct {
		name     string
		f        farm
		commands string // the program and a copy of it are "program" and "other"
	}{
		{"partial units 4", farm{"gcc", "g++", "-gdwarf-4"}, "dwz program"},
		{"partial units 5", farm{"gcc", "g++", "-gdwarf-5"}, "dwz --odr program"},
		{"supplementary file 4", farm{"gcc", "g++", "-gdwarf-4"}, "dwz -m common program other"},
		{"supplementary file 5", farm{"gcc", "g++", "-gdwarf-5"}, "dwz -m common -r program other"},
		{"standard forms", farm{"gcc", "g++", "-gdwarf-5"}, "dwz --dwarf-5 -m common program other"},
	}) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			whole, want := c.f.whole(t)
			path := filepath.Join(t.TempDir(), "program")
			if err := os.CopyFS(filepath.Dir(path), os.DirFS(whole)); err != nil {
				t.Fatal(err)
			}
			compress := exec.Command("sh", "-c", "cp program other && "+c.commands)
			compress.Dir = filepath.Dir(path)
			if text, err := compress.CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", c.commands, err, text)
			}
			compareWhole(t, c.name, path, want)
			common := filepath.Join(filepath.Dir(path), "common")
			if err := os.Remove(common); err == nil {
				checkWithoutCommon(t, path, common)
			}
		})
	}
}

// checkWithoutCommon asks a program whose supplementary file is missing. Lines are known without it.
func checkWithoutCommon(t *testing.T, path, common string) {
	t.Helper()
	p := openWhole(t, path)
	var missing *debuginfo.MissingError
	want := "a part of the debug information of program is in " + common + ", which is missing"
	_, err := p.info.Access(p.address(t, "walk"), []string{"p"})
	if !errors.As(err, &missing) || !errors.Is(err, debuginfo.ErrAlt) || err.Error() != want {
		t.Errorf("without the file: %v", err)
	}
	if addrs, _, err := p.info.AddrsOf("values.c", 41); err != nil || len(addrs) == 0 {
		t.Errorf("a line is at %x, %v", addrs, err)
	}
	if n := len(p.info.Missing()); n != 1 {
		t.Errorf("%d files are missing", n)
	}
}
