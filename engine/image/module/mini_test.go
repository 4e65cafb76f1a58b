package module

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotap/engine/image/symtab"
	"gotap/engine/testenv"
)

// miniBuild builds a program as Fedora does: .gnu_debugdata has the symbols of functions that are not in .dynsym, and
// nothing else is left. It returns the whole program, too.
func miniBuild(t *testing.T) (whole, bare string) {
	t.Helper()
	testenv.Require(t, testenv.GCC, testenv.Objcopy, testenv.NM, testenv.XZ)
	whole = build(t, "gcc", "-O2", "-g", "names.c", "names2.c")
	dir := t.TempDir()
	bare, mini := filepath.Join(dir, "prog"), filepath.Join(dir, "mini")
	exported := map[string]bool{}
	for _, s := range nm(t, whole, "-D") {
		exported[s.name] = true
	}
	var kept []string
	for _, s := range nm(t, whole) {
		if strings.ContainsAny(s.typ, "tTwW") && !exported[s.name] {
			kept = append(kept, s.name)
		}
	}
	list := filepath.Join(dir, "kept")
	if err := os.WriteFile(list, []byte(strings.Join(kept, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	command(t, "objcopy", "--only-keep-debug", whole, mini+".debug")
	command(t, "objcopy", "-S", "--remove-section", ".comment", "--keep-symbols="+list, mini+".debug", mini)
	command(t, "xz", mini)
	command(t, "strip", "-o", bare, whole)
	command(t, "objcopy", "--add-section", ".gnu_debugdata="+mini+".xz", bare)
	return whole, bare
}

// TestMiniDebugInfo compares the functions of a stripped program that has .gnu_debugdata with those of nm before it was
// stripped.
func TestMiniDebugInfo(t *testing.T) {
	whole, bare := miniBuild(t)
	f := open(t, bare)
	if f.elf.Section(".symtab") != nil || f.Debug() != nil {
		t.Fatal("the program is not stripped")
	}
	if f.Stripped() {
		t.Error("a program whose names are in .gnu_debugdata counts as stripped")
	}
	checked := 0
	for _, s := range nm(t, whole, "-S") {
		if !strings.Contains("tT", s.typ) || s.size == 0 {
			continue
		}
		checked++
		found := f.Lookup(s.name)
		if !slices.ContainsFunc(found, func(m symtab.Match) bool { return m.Func.Addr == s.addr && m.Func.Size == s.size }) {
			t.Errorf("%s at %#x with %d bytes: found %v", s.name, s.addr, s.size, found)
		}
		if fn, ok := f.FuncAt(s.addr + s.size - 1); !ok || fn.Addr > s.addr {
			t.Errorf("the last byte of %s belongs to %v, %v", s.name, fn, ok)
		}
		if !f.MayDefine(s.name) {
			t.Errorf("%s may not be defined", s.name)
		}
	}
	if checked < 5 {
		t.Errorf("only %d functions were compared", checked)
	}
}

// TestMiniDebugInfoDamaged replaces .gnu_debugdata by data that cannot be used. The program counts as stripped.
func TestMiniDebugInfoDamaged(t *testing.T) {
	_, bare := miniBuild(t)
	zeros := filepath.Join(t.TempDir(), "zeros")
	if err := os.WriteFile(zeros, make([]byte, 80<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	command(t, "xz", "-1", zeros) // small, and larger than allowed
	source := filepath.Join("testdata", "names.c")
	for _, content := range []string{zeros + ".xz", source} {
		bad := filepath.Join(t.TempDir(), "bad")
		command(t, "objcopy", "--update-section", ".gnu_debugdata="+content, bare, bad)
		f := open(t, bad)
		if !f.Stripped() || len(f.Lookup("helper")) != 0 {
			t.Errorf("with %s as .gnu_debugdata it is not stripped", content)
		}
		if err := f.MiniError(); err == nil || !strings.HasPrefix(err.Error(), ".gnu_debugdata cannot be read: the XZ data ") {
			t.Errorf("the error is %v", err)
		}
	}
}
