package symbollist

import (
	"bytes"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gotap/engine/image/module"
	"gotap/engine/image/symtab"
	"gotap/engine/testenv"
	"gotap/engine/testenv/fixture"
)

// TestSymbolList: a file made of what nm prints has the functions of the program, where they are, with its code.
func TestSymbolList(t *testing.T) {
	testenv.Require(t, testenv.GCC, testenv.NM, testenv.AMD64)
	program := filepath.Join(t.TempDir(), "target")
	if out, err := fixture.Command("gcc", "-static", "-O1", "../testdata/target.c", "-o", program).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	list, err := exec.Command("nm", program).Output()
	if err != nil {
		t.Fatal(err)
	}
	var defined []string
	for line := range strings.Lines(string(list)) {
		if _, ok := parse(line); ok {
			defined = append(defined, line)
		}
	}
	all, err := read(strings.NewReader(strings.Join(defined, "")))
	if err != nil {
		t.Fatal(err)
	}
	truth, err := module.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	f, err := (&List{"list", all}).File(elf.EM_X86_64, func(addr uint64, p []byte) (int, error) {
		code, err := truth.Code(addr, len(p))
		return copy(p, code), err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"main", "work", "fact", "printf", "strlen"} {
		want, got := truth.Lookup(name), f.Lookup(name)
		if len(want) == 0 || want[0].Func.Kind != symtab.KindFunc {
			continue
		}
		if len(got) != 1 || got[0].Func.Addr != want[0].Func.Addr || got[0].Func.Size < want[0].Func.Size || got[0].Func.Size > want[0].Func.Size+64 {
			t.Fatalf("%s: %+v, not %+v", name, got, want[0].Func)
		}
		a, err1 := truth.Code(want[0].Func.Addr, 16)
		b, err2 := f.Code(want[0].Func.Addr, 16)
		if err1 != nil || err2 != nil || !bytes.Equal(a, b) {
			t.Errorf("%s: code %x, not %x: %v, %v", name, b, a, err1, err2)
		}
	}
}

func TestBrokenSymbolLists(t *testing.T) {
	for name, text := range map[string]string{
		"empty":     "",
		"no list":   "ELF and so on\n",
		"hidden":    "0000000000000000 T start\n0000000000000000 T end\n",
		"data only": "ffffffff81000000 D data\n",
		"too wide":  "0000000000001000 T a\nffffffffffff0000 T b\n",
		"the end":   "ffffffffffffffff T b\n",
		"Debian's":  "ffffffffffffffff B The real System.map is in the linux-image-<version>-dbg package\n",
	} {
		if all, err := read(strings.NewReader(text)); err == nil {
			t.Errorf("%s: read as %v", name, all)
		}
	}
}

// FuzzSymbolList: whatever a list holds is an error or a file that opens.
func FuzzSymbolList(f *testing.F) {
	f.Add("c0008000 T stext\nc0008001 t thumb\nc0009000 W end\n")
	f.Add("ffffffff81000000 T a [module]\n\n")
	f.Fuzz(func(t *testing.T, text string) {
		all, err := read(strings.NewReader(text))
		if err != nil {
			return
		}
		none := func(uint64, []byte) (int, error) { return 0, nil }
		file, err := (&List{"list", all}).File(elf.EM_ARM, none)
		if err != nil {
			t.Fatal(err)
		}
		if len(file.Funcs()) == 0 {
			t.Fatal("no functions")
		}
	})
}

// TestOpen: a list is recognized by its first line, and an error names the file.
func TestOpen(t *testing.T) {
	for text, want := range map[string]bool{"c0008000 T stext\n": true, "c0008000 D data\n": true, "\x7fELF": false, "": false} {
		path := filepath.Join(t.TempDir(), "list")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := Is(path); got != want {
			t.Errorf("%q: recognized as a list: %v", text, got)
		}
		_, err := Open(path)
		if good := strings.Contains(text, " T "); good != (err == nil) || err != nil && !strings.Contains(err.Error(), path) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if Is(t.TempDir()) {
		t.Error("a folder is recognized as a list")
	}
}
