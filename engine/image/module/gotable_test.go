package module

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gotap/engine/testenv"
)

// buildGo builds the Go program of testdata.
func buildGo(t testing.TB, env []string, flags ...string) string {
	t.Helper()
	return testenv.GoProgram(t, "testdata/goprog", env, flags...)
}

// goNM lists the functions that Go's nm prints: address, size, name.
func goNM(t testing.TB, path string) []nmSymbol {
	t.Helper()
	var found []nmSymbol
	lines := bufio.NewScanner(strings.NewReader(command(t, "go", "tool", "nm", "-size", path)))
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 4 || !strings.EqualFold(fields[2], "t") {
			continue
		}
		addr, err1 := strconv.ParseUint(fields[0], 16, 64)
		size, err2 := strconv.ParseUint(fields[1], 10, 64)
		_, name, _ := strings.Cut(lines.Text(), " "+fields[2]+" ")
		if err1 == nil && err2 == nil && size > 0 {
			found = append(found, nmSymbol{name, addr, size, fields[2]})
		}
	}
	return found
}

// asTable is a name of the symbol table as Go's own table has it: type arguments are cut short, and of the two
// functions of one name of which one was removed the other needs no suffix.
func asTable(name string) string {
	start, end := strings.IndexByte(name, '['), strings.LastIndexByte(name, ']')
	if start > 0 && end > start {
		name = name[:start] + "[...]" + name[end+1:]
	}
	return strings.TrimSuffix(name, ".abi0")
}

// checkGoTable compares Go's table with what Go's nm prints.
func checkGoTable(t *testing.T, list []GoFunc, symbols []nmSymbol) {
	t.Helper()
	byAddr := map[uint64]GoFunc{}
	for _, fn := range list {
		byAddr[fn.Addr] = fn
	}
	missing, sizes := 0, 0
	for _, s := range symbols {
		fn, ok := byAddr[s.addr]
		switch {
		case !ok && !strings.Contains(s.name, "."):
			// C functions, and marks of the linker
		case !ok:
			missing++
			t.Logf("%s is missing", s.name)
		case asTable(fn.Name) != asTable(s.name):
			t.Errorf("%x is %s, go tool nm says %s", s.addr, fn.Name, s.name)
		case fn.Size != s.size:
			sizes++
			t.Logf("%s has %d bytes, go tool nm says %d", s.name, fn.Size, s.size)
		}
	}
	if missing > len(symbols)/100 || sizes > len(symbols)/100 || len(symbols) < 100 {
		t.Errorf("of %d symbols %d are missing and %d have another size", len(symbols), missing, sizes)
	}
}

// goBuilds are the ways of linking that put the table, and the start of the text, in different places.
var goBuilds = []struct {
	name  string
	env   []string
	flags []string
	needs []testenv.Need
}{
	{name: "static", env: []string{"CGO_ENABLED=0"}},
	{name: "pie", env: []string{"CGO_ENABLED=0"}, flags: []string{"-buildmode=pie"}},
	{name: "external", env: []string{"CGO_ENABLED=1"}, flags: []string{"-tags=withc"}, needs: []testenv.Need{testenv.GCC}},
	{name: "external pie", env: []string{"CGO_ENABLED=1"}, flags: []string{"-tags=withc", "-buildmode=pie"}, needs: []testenv.Need{testenv.GCC}},
	{name: "386", env: []string{"CGO_ENABLED=0", "GOARCH=386"}},
	{name: "arm64", env: []string{"CGO_ENABLED=0", "GOARCH=arm64"}},
}

func TestGoTableAsGoPrintsIt(t *testing.T) {
	testenv.Require(t, testenv.Time)
	for _, b := range goBuilds {
		t.Run(b.name, func(t *testing.T) {
			testenv.Require(t, b.needs...)
			whole := buildGo(t, b.env, b.flags...)
			bare := buildGo(t, b.env, append(b.flags, "-ldflags=-s -w")...)
			symbols := goNM(t, whole)
			f := open(t, whole)
			list, err := f.GoFuncs()
			if err != nil {
				t.Fatal(err)
			}
			checkGoTable(t, list, symbols)
			checkStrippedGo(t, f, open(t, bare))
		})
	}
}

// checkStrippedGo compares a program linked with -s with the same one linked without.
func checkStrippedGo(t *testing.T, whole, bare *File) {
	t.Helper()
	if !whole.IsGo() || !bare.IsGo() {
		t.Error("a Go program is not recognised")
	}
	for _, name := range []string{"main.main", "main.(*Stack).Len", "main.work", "main.asmadd", "plain", "runtime.mallocgc"} {
		a, b := whole.Lookup(name), bare.Lookup(name)
		if len(a) != 1 || len(b) != 1 {
			t.Errorf("%s is %v, stripped %v", name, a, b)
			continue
		}
		if a[0].Func.Size != b[0].Func.Size {
			t.Errorf("%s has %d bytes, stripped %d", name, a[0].Func.Size, b[0].Func.Size)
		}
		at, ok := bare.FuncAt(b[0].Func.End() - 1)
		if !ok || at != b[0].Func {
			t.Errorf("the last byte of %s belongs to %v", name, at)
		}
		if fn, ok := bare.GoFuncAt(b[0].Func.Addr); !ok || fn.Assembly != (name == "plain" || name == "main.asmadd") {
			t.Errorf("%s in Go's table is %+v", name, fn)
		}
	}
	if a, b := whole.Lookup("main.Map"), bare.Lookup("main.Map"); len(a) != 2 || len(b) != 2 {
		t.Errorf("the instances of main.Map are %v, stripped %v", a, b)
	}
	if a, b := len(whole.Lookup("main.*")), len(bare.Lookup("main.*")); a != b || a < 6 {
		t.Errorf("main.* are %d functions, stripped %d", a, b)
	}
	for ask, want := range map[string]string{"main.wrok": "main.work", "work": "main.work", "Len": "main.(*Stack).Len"} {
		if got := bare.Suggest(ask); !slices.Contains(got, want) {
			t.Errorf("for %s %v is suggested", ask, got)
		}
	}
}

// TestGoTableOfTheToolchain reads a large program.
func TestGoTableOfTheToolchain(t *testing.T) {
	testenv.Require(t, "go")
	path := filepath.Join(strings.TrimSpace(command(t, "go", "env", "GOROOT")), "bin", "go")
	f := open(t, path)
	list, err := f.GoFuncs()
	if err != nil {
		t.Fatal(err)
	}
	checkGoTable(t, list, goNM(t, path))
}

func TestGoTableDamaged(t *testing.T) {
	data, err := os.ReadFile(buildGo(t, []string{"CGO_ENABLED=0"}, "-ldflags=-s -w"))
	if err != nil {
		t.Fatal(err)
	}
	f, err := Open(buildGo(t, []string{"CGO_ENABLED=0"}, "-ldflags=-s -w"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	table := f.elf.Section(".gopclntab")
	for _, at := range []uint64{0, 7, 8, 12, 16, 32, 40, 56, 64, 72, 80, 4096} {
		for _, value := range []byte{0, 0x7f, 0xff} {
			bad := slices.Clone(data)
			for i := range uint64(4) {
				bad[table.Offset+at+i] = value
			}
			g, err := NewFile("damaged", bytes.NewReader(bad))
			if err != nil {
				t.Fatal(err)
			}
			g.Lookup("main.main")
			g.GoFuncAt(g.Entry)
		}
	}
}

func BenchmarkGoTable(b *testing.B) {
	path, err := exec.LookPath("go")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		f, err := Open(path)
		if err != nil {
			b.Skip(err)
		}
		f.GoFuncs()
		f.Close()
	}
}

// The functions of one name are those of the whole table.
func TestGoFuncsNamed(t *testing.T) {
	f, err := Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all, err := f.GoFuncs()
	if err != nil || len(all) < 1000 {
		t.Fatalf("%d functions: %v", len(all), err)
	}
	want := map[string][]uint64{}
	for _, fn := range all {
		name := strings.TrimSuffix(fn.Name, ".abi0")
		want[name] = append(want[name], fn.Addr)
	}
	for _, name := range []string{"runtime.rt_sigaction", "runtime.main", "main.main", "runtime.memmove", "runtime.mai", "untime.main", ""} {
		var got []uint64
		for _, fn := range f.GoFuncsNamed(name) {
			got = append(got, fn.Addr)
		}
		if !slices.Equal(got, want[name]) {
			t.Errorf("%s: at %x, the whole table has %x", name, got, want[name])
		}
	}
}

func TestMayDefine(t *testing.T) {
	f, err := Open("/bin/sh")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, fn := range f.Funcs() {
		if fn.Name != "" && !f.MayDefine(fn.Name) {
			t.Errorf("%s is defined", fn.Name)
		}
	}
	if f.MayDefine("no such name") {
		t.Error("a name is found that is not there")
	}
}
