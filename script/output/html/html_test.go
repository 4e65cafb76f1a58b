package html

import (
	_ "embed"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"gotap/engine/testenv"
	"gotap/runtime/object"
	"gotap/runtime/snapshot"
	"gotap/runtime/value"
	"gotap/script/output"
	"gotap/script/output/picture"
)

// browser.js has of a browser what the page uses, and looks at what the page drew.
//
//go:embed testdata/browser.js
var browser string

const evil = `</script><script>alert(1)</script><!-- {{CODE}}`

func whole() *picture.Picture {
	one, four := int64(1), int64(4)
	return &picture.Picture{Title: "a.js", Target: "prog -x", Script: "probe()", Text: []byte("printed " + evil),
		Losses: []picture.Loss{{Cause: "ring full", Count: 1234}}, Errors: []string{"a.js:1:1: error: bad"},
		Tables: []output.Table{{Name: "stacks", Columns: []string{"stack", "hits"}, Rows: [][]any{{"main;work;leaf", int64(30)}, {"main;work", int64(10)}, {"main;rare", int64(60)}}}},
		Aggregates: []output.Aggregate{
			{Snapshot: snapshot.Snapshot{Object: object.Object{Name: "sizes", Kind: object.KindHist}, Entries: []snapshot.Entry{{Data: snapshot.Data{Kind: object.KindHist,
				Buckets: []snapshot.Bucket{{Min: &one, Max: &one, Count: 3}, {Min: &four, Count: 6}}}}}}},
			{Snapshot: snapshot.Snapshot{Object: object.Object{Name: "by name", Kind: object.KindCount, Keys: 1}, Entries: []snapshot.Entry{
				{Key: []value.Value{value.Text("key" + evil)}, Data: snapshot.Data{Kind: object.KindCount, Int: 5}}}}}},
		Calls: []picture.Call{{Tid: 1, Comm: "c", Outer: -1, Start: 1000, Duration: 900, Took: 900, Returned: true, Func: "outer", Text: "outer(1)"},
			{Tid: 1, Comm: "c", Depth: 1, Start: 1100, Duration: 200, Took: 200, Returned: true, Failed: true, Func: "inner", Text: "inner(2)", Result: "-1"},
			{Tid: 2, Comm: "d", Outer: -1, Start: 1100, Func: "stuck", Text: "stuck()"}},
		Events: []output.Event{{Probe: "p", Tid: 2, Comm: "d", Time: 1500, Fields: []output.Field{{Name: "k", Value: evil}}}}}
}

// TestPage: the page has two scripts, whatever the data are, and names nothing outside of itself.
func TestPage(t *testing.T) {
	var b strings.Builder
	if err := Write(&b, whole()); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.String(), "<script"); n != 2 || strings.Count(b.String(), "</script>") != 2 || strings.Contains(b.String(), "alert(1)<") {
		t.Errorf("%d scripts", n)
	}
	if found := regexp.MustCompile(`(?i)https?://|\bsrc=|@import|url\(|<link`).FindString(b.String()); found != "" {
		t.Errorf("the page has %q", found)
	}
	if strings.Count(b.String(), "function flame(") != 1 {
		t.Error("the code is not there once")
	}
}

// TestDrawn runs the page's code on its data and looks at what it draws, what a search finds, and what a click on a box
// does.
func TestDrawn(t *testing.T) {
	out := drawn(t, whole())
	for _, want := range []string{
		"title: a.js - gotap\n", "text: prog -x\n", "text: 1,234: ring full\n", "text: a.js:1:1: error: bad\n", "text: @sizes\n", "text: 4 to …\n", "text: key" + evil + "\n", "text: printed " + evil + "\n", "text: probe()\n",
		"bar 50%\n", "bar 100%\n",
		"box main 0% 100%\n", "box rare 0% 60%\n", "box work 60% 40%\n", "box leaf 60% 30%\n", // in the order of names
		"search wo: found in 40.0 %, marked work\n", "search [: found in 0.0 %, marked \n",
		"zoomed to work: box leaf 0% 75%\n", "zoomed out: box main 0% 100%\n",
		"canvas: outer(1)\n", "sorted by hits: 60 30 10\n", "sorted by hits: 10 30 60\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

// drawn runs the page of a picture and returns what browser.js has seen.
func drawn(t *testing.T, p *picture.Picture) string {
	t.Helper()
	testenv.Require(t, testenv.Node)
	var b strings.Builder
	if err := Write(&b, p); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"page.html": b.String(), "browser.js": browser} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("node", "browser.js", "page.html")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// TestLarge: of many rows and of deep calls the page draws a part, and says so.
func TestLarge(t *testing.T) {
	p := whole()
	rows := make([][]any, 5000)
	for i := range rows {
		rows[i] = []any{int64(i)}
	}
	p.Tables = append(p.Tables, output.Table{Name: "many", Columns: []string{"row"}, Rows: rows})
	for i := range uint64(20_000) {
		p.Calls = append(p.Calls, picture.Call{Tid: 9, Comm: "e", Outer: -1, Start: 2000 + i, Duration: 100_000 - 2*i, Returned: true, Func: "again"})
	}
	out := drawn(t, p)
	for _, want := range []string{"text: 1000 of 5000 rows; another order shows others\n", "; 800 of 20006 lines are shown\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%.2000s", want, out)
		}
	}
	if n := strings.Count(out, "\ntext: 999\n"); n != 1 || strings.Contains(out, "\ntext: 1000\n") {
		t.Errorf("the last row is there %d times", n)
	}
}

// TestControls: the file has no character that a terminal may obey.
func TestControls(t *testing.T) {
	p := whole()
	p.Text = []byte("a\x1b[2Jb\u009bc\x7f")
	var b strings.Builder
	if err := Write(&b, p); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsFunc(b.String(), func(r rune) bool { return r != '\n' && unicode.IsControl(r) }) {
		t.Error("there is a control character")
	}
}
