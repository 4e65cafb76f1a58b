package declare

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gotap/engine/image/debuginfo"
	"gotap/engine/place/catalog"
	"gotap/engine/testenv"
	"gotap/engine/testenv/fixture"
	"gotap/script/typings"
)

// declarations builds a program and returns its types.
func declarations(t *testing.T, pattern string) *debuginfo.Declarations {
	t.Helper()
	program := filepath.Join(t.TempDir(), "jobs")
	if text, err := fixture.Command("g++", "-std=c++17", "-g", "-O1", "-o", program, "testdata/jobs.cc").CombinedOutput(); err != nil {
		t.Fatalf("cannot build: %v\n%s", err, text)
	}
	all := catalog.New(nil)
	defer all.Close()
	d, err := all.Declare(program, pattern)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestMisspeltMembersAreFound has TypeScript's compiler check a script that is right, and one with an error in each
// line that says so.
func TestMisspeltMembersAreFound(t *testing.T) {
	testenv.Require(t, testenv.GXX, testenv.TSC)
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("gotap.d.ts", typings.Text())
	write("jsconfig.json", typings.Config)
	write("evil.gotap.d.ts", Text("a\"*/\nb", evil(), typings.Names()))
	write("jobs.gotap.d.ts", Text("jobs", declarations(t, ""), typings.Names()))
	for _, name := range []string{"right.js", "wrong.js"} {
		text, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		write(name, string(text))
	}
	cmd := exec.Command(cmp.Or(os.Getenv("GOTAP_TSC"), "tsc"), "-p", "jsconfig.json", "--skipLibCheck", "false", "--pretty", "false")
	cmd.Dir = dir
	out, _ := cmd.CombinedOutput()
	var got []string
	for _, line := range strings.Split(string(out), "\n") {
		if line != "" && !strings.HasPrefix(line, " ") {
			got = append(got, line)
		}
	}
	wrong, err := os.ReadFile("testdata/wrong.js")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for i, line := range strings.Split(string(wrong), "\n") {
		_, want, ok := strings.Cut(line, " // ")
		if !ok {
			continue
		}
		if n == len(got) || !strings.HasPrefix(got[n], fmt.Sprintf("wrong.js(%d,", i+1)) || !strings.Contains(got[n], want) {
			t.Fatalf("line %d has to have the error %s:\n%s", i+1, want, out)
		}
		n++
	}
	if n != len(got) || n == 0 {
		t.Errorf("tsc says more than that:\n%s", out)
	}
}

// TestPatternsNarrow declares one function, and what it needs.
func TestPatternsNarrow(t *testing.T) {
	testenv.Require(t, testenv.GXX)
	d := declarations(t, "shop::pu*")
	if len(d.Functions) != 1 || d.Functions[0].Name != "shop::push" || len(d.Structs) != 3 {
		t.Errorf("%d functions and %d structs: %+v", len(d.Functions), len(d.Structs), d)
	}
}

// evil declares names that a malicious program may have.
func evil() *debuginfo.Declarations {
	name := "a\"]; */ \n\u2028 } \\ `${x}` //"
	all := []debuginfo.DeclaredName{{Name: name, Type: debuginfo.DeclaredType{Kind: debuginfo.DeclaredNumber, C: name}}}
	return &debuginfo.Declarations{
		Functions: []debuginfo.DeclaredFunction{{Name: name, Params: all}, {Name: "constructor"}},
		Structs:   []debuginfo.DeclaredStruct{{Name: name, Members: all}, {Name: "struct a"}, {Name: "struct-a"}, {Name: "class"}, {Name: "7"}},
		Globals:   all,
		Constants: []string{"GREEN", "not;", "Map", "Élan"},
	}
}
