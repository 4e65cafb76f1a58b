package compiler

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotap/compile"
	"gotap/compile/diag"
	"gotap/compile/js"
)

var update = flag.Bool("update", false, "rewrite the listings of testdata")

// TestListings compares the code of small programs with the listings in testdata: what is common must stay short. Run
// with -update after a change that is meant.
func TestListings(t *testing.T) {
	files, _ := filepath.Glob("testdata/listing/*.js")
	if len(files) == 0 {
		t.Fatal("no listings")
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		r := newRig(t)
		u := parse(t, string(text), testScope(r))
		u.Arena = r.arena
		res := compiled(t, u)
		var b strings.Builder
		for k := js.Enter; k < js.NumHandlers; k++ {
			if p := res.Programs[k]; p != nil {
				if err := compile.List(&b, p, compile.ListOptions{}); err != nil {
					t.Fatal(err)
				}
			}
		}
		golden(t, strings.TrimSuffix(name, ".js")+".lst", b.String())
	}
}

// golden compares text with a file, or writes it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s:\n%s\nwant:\n%s", name, got, want)
	}
}

// TestBounds: loops that count are bounded by the verifier, in all their spellings.
func TestBounds(t *testing.T) {
	for _, text := range []string{
		"c => { for (let i = 0; i < 8; i++) log(i); }",
		"c => { for (let i = 8; i > 0; i -= 2) log(i); }",
		"c => { for (let i = 0; i <= c.arg0 && i < 10; ++i) log(i); }",
		"c => { let n = 5; while (n-- > 0) log(n); }",
		"c => { let n = 5; while (--n > 0) log(n); }",
		"c => { let n = 0; do { log(n); } while (++n < 4); }",
		"c => { for (let i = 0; i < 4; i++) for (let j = 0; j < 4; j++) { if (j === c.arg0) break; log(i, j); } }",
		"function f(x) { for (let i = 0; i < 3; i++) if (x & (1 << i)) return i; return -1; } c => log(f(c.arg0), f(c.arg1))",
	} {
		r := compiled(t, parse(t, text, nil))
		if b := r.Programs[js.Enter].Bound; !b.Proved {
			t.Errorf("%s: %v\n%s", text, b, listing(r.Programs[js.Enter]))
		}
	}
	r := compiled(t, parse(t, "c => { let x = 0; while (true) x++; }", nil))
	if r.Programs[js.Enter].Bound.Proved {
		t.Error("an endless loop has a bound")
	}
}

// TestMap: positions are those of the text that the script was generated from.
func TestMap(t *testing.T) {
	original := diag.NewSource("a.ts", "type T = number;\nconst f = (x: T) => lgo(x + 1);")
	generated := "(c => lgo(c.arg0 + 1))"
	u := parse(t, generated, nil)
	u.Map = func(offset int) (*diag.Source, int) {
		if offset < strings.Index(generated, "lgo") {
			return nil, 0
		}
		return original, strings.Index(original.Text, "lgo") + offset - strings.Index(generated, "lgo")
	}
	_, diags := Compile(u)
	if len(diags) != 1 || !strings.HasPrefix(diags[0].String(), "a.ts:2:21: error: unknown name lgo") || !strings.Contains(diags[0].String(), "                    ^^^\n") {
		t.Errorf("got %v", diags)
	}
}

// TestFloatRegister: floating arguments are read as such.
func TestFloatRegister(t *testing.T) {
	r := newRig(t)
	r.th.floats[1] = 1.25
	if got := r.logged("c => log(c.regs.xmm1 * 2)", nil); got[0] != "2.5" {
		t.Errorf("got %q", got)
	}
}
