package isa

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gotap/engine/image/module"
	"gotap/engine/image/symtab"
	"gotap/engine/testenv"
	"gotap/engine/testenv/fixture"
)

// TestCalleesLikeObjdump: the calls of all functions of programs lead where objdump says.
func TestCalleesLikeObjdump(t *testing.T) {
	testenv.Require(t, testenv.GCC, testenv.AMD64, testenv.M32, testenv.Objdump, testenv.GCCARM, testenv.ObjdumpARM, testenv.GCCARM64, testenv.ObjdumpARM64)
	for _, c := range []struct {
		name, compiler, objdump string
		flags                   []string
	}{
		{"amd64", "gcc", "objdump", []string{"-O2"}},
		{"amd64 unoptimised", "gcc", "objdump", []string{"-O0", "-no-pie"}},
		{"amd64 landing pads", "gcc", "objdump", []string{"-O2", "-fcf-protection=full", "-Wl,-z,lazy"}},
		{"amd64 without stubs", "gcc", "objdump", []string{"-O2", "-fno-plt"}},
		{"i386", "gcc", "objdump", []string{"-m32", "-O2", "-fPIE", "-pie"}},
		{"i386 fixed", "gcc", "objdump", []string{"-m32", "-O2", "-no-pie", "-fno-pie"}},
		{"arm64", "aarch64-linux-gnu-gcc", "aarch64-linux-gnu-objdump", []string{"-O2"}},
		{"a32", "arm-linux-gnueabihf-gcc", "arm-linux-gnueabihf-objdump", []string{"-O2", "-marm"}},
		{"thumb", "arm-linux-gnueabihf-gcc", "arm-linux-gnueabihf-objdump", []string{"-O2", "-mthumb"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "program")
			args := append(slices.Clone(c.flags), "-idirafter", "/usr/include/x86_64-linux-gnu", "-o", out, "testdata/callees.c")
			if text, err := fixture.Command(c.compiler, args...).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			if n := compareCallees(t, c.objdump, out, "leaf", "tail", "recursive", "through", "fail", "text", "main"); n < 10 {
				t.Errorf("only %d calls were compared", n)
			}
		})
	}
}

// TestCalleesOfTheCLibrary compares all functions of the C library, which has calls of indirect functions, and jump
// tables.
func TestCalleesOfTheCLibrary(t *testing.T) {
	testenv.Require(t, testenv.GCC, testenv.Objdump)
	path, err := exec.Command("gcc", "-print-file-name=libc.so.6").Output()
	if err != nil {
		t.Fatal(err)
	}
	if n := compareCallees(t, "objdump", strings.TrimSpace(string(path))); n < 1000 {
		t.Errorf("only %d calls were compared", n)
	}
}

// compareCallees compares the calls of functions, or of all functions of a file, and returns how many there are.
func compareCallees(t *testing.T, objdump, path string, names ...string) (calls int) {
	t.Helper()
	f, err := module.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	branches := listedBranches(t, objdump, path)
	for _, fn := range f.Funcs() {
		if fn.Size == 0 || len(names) > 0 && !slices.Contains(names, fn.Name) {
			continue
		}
		code, err := f.Code(fn.Addr, int(fn.Size))
		if err != nil {
			t.Fatal(err)
		}
		found, err := Callees(f, code, fn.Addr)
		if err != nil && len(names) > 0 {
			t.Errorf("%s: %v", fn.Name, err)
		}
		var got []string
		for _, c := range found {
			got = append(got, calleeText(c))
		}
		want := expected(f, branches, &fn)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s at %#x calls %v, by objdump %v", fn.Name, fn.Addr, got, want)
		}
		calls += len(want)
	}
	return calls
}

func calleeText(c module.Callee) string {
	if c.Symbol != "" {
		return c.Symbol
	}
	return fmt.Sprintf("%x", c.Addr)
}

// branch is one that objdump prints.
type branch struct {
	at       uint64
	call     bool
	indirect bool
	target   uint64
	name     string
}

// branchLine matches " 1139: e8 f2 fe ff ff call 1030 <puts@plt>", and "call *0x2fd2(%rip) # 3fe0 <puts@GLIBC_2.2.5>".
var branchLine = regexp.MustCompile(`(?m)^ *([0-9a-f]+):\t[0-9a-f ]+\t(?:bnd |notrack |addr32 |data16 |cs )*(call|j[a-z]+|b[a-z]*|cbn?z|tbn?z)(?:[.,]\w+)?\s+(.*?)([0-9a-f]+) <([^>]+)>`)

// listedBranches are the branches to known addresses.
func listedBranches(t *testing.T, objdump, path string) (all []branch) {
	out, err := exec.Command(objdump, "-d", "-w", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range branchLine.FindAllStringSubmatch(string(out), -1) {
		b := branch{name: m[5]}
		b.at, _ = strconv.ParseUint(m[1], 16, 64)
		b.target, _ = strconv.ParseUint(m[4], 16, 64)
		// On 32-bit ARM ble, bls and blt are conditional jumps, bleq and others conditional calls.
		b.call = m[2] == "call" || m[2] == "bl" || m[2] == "blx" || len(m[2]) == 4 && strings.HasPrefix(m[2], "bl")
		b.indirect = strings.HasPrefix(m[3], "*")
		all = append(all, b)
	}
	return all
}

// expected returns where the branches of a function lead.
func expected(f *module.File, branches []branch, fn *symtab.Func) (all []string) {
	i, _ := slices.BinarySearchFunc(branches, fn.Addr, func(b branch, addr uint64) int { return int(int64(b.at - addr)) })
	for ; i < len(branches) && branches[i].at < fn.End(); i++ {
		b := branches[i]
		text := fmt.Sprintf("%x", b.target)
		symbol, version, _ := strings.Cut(b.name, "@")
		resolver, absolute := strings.CutPrefix(symbol, "*ABS*+0x")
		switch {
		case absolute && version == "plt":
			text = resolver
		case version == "plt" || b.indirect && !strings.Contains(b.name, "+") && version != "":
			text = symbol
		case b.indirect || !b.call && b.target >= fn.Addr && b.target < fn.End():
			continue
		}
		all = append(all, text)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
