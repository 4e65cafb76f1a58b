package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestDocumentedScripts checks that `gotap check` accepts every script and definition file in the documentation.
func TestDocumentedScripts(t *testing.T) {
	pages, _ := filepath.Glob(filepath.Join("..", "..", "docs", "*.md"))
	blocks, found := regexp.MustCompile("(?s)```(dpdf|js)\n(.*?)```"), map[string]int{}
	for _, p := range append(pages, filepath.Join("..", "..", "README.md")) {
		text, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range blocks.FindAllStringSubmatch(string(text), -1) {
			found[m[1]]++
			if status, errs := checkText(t, "example."+m[1], m[2]); status != 0 {
				t.Errorf("%s: status %d: %s\n%s", filepath.Base(p), status, errs, m[2])
			}
		}
	}
	if found["js"] < 2 || found["dpdf"] < 5 {
		t.Errorf("the documentation has %v examples", found)
	}
}

// TestEveryDPDFSectionHasAnExample checks docs/dpdf.md. A heading that only introduces others needs none.
func TestEveryDPDFSectionHasAnExample(t *testing.T) {
	sections := regexp.MustCompile(`(?m)^##+ `).Split(page(t, "docs/dpdf.md"), -1)
	for _, s := range sections[1:] {
		title, _, _ := strings.Cut(s, "\n")
		if !strings.Contains(s, "```dpdf") && title != "Commands" {
			t.Errorf("docs/dpdf.md: the section %q has no example", title)
		}
	}
}

// TestComparedScripts checks the scripts in the tables of docs/coming-from.md, in which "…" stands for any statement.
func TestComparedScripts(t *testing.T) {
	cells := regexp.MustCompile("`(?:gotap run -e ')?([^`]*probe\\([^`']*\\);?)['`]")
	found := 0
	for line := range strings.Lines(page(t, "docs/coming-from.md")) {
		columns := strings.Split(line, " | ")
		if len(columns) != 2 {
			continue
		}
		for _, m := range cells.FindAllStringSubmatch(columns[1], -1) {
			found++
			script := regexp.MustCompile(`… ([a-z.]+) …`).ReplaceAllString(m[1], "$1;")
			if status, errs := checkText(t, "example.js", strings.ReplaceAll(script, "…", "0")); status != 0 {
				t.Errorf("status %d: %s\n%s", status, errs, m[1])
			}
		}
	}
	if found < 12 {
		t.Errorf("the tables have %d scripts", found)
	}
}

// TestJobs checks the numbers in the table of everyday jobs in docs/coming-from.md; a transcript runs its commands.
func TestJobs(t *testing.T) {
	rows := regexp.MustCompile("(?m)^\\| [^|]+ \\| `([^`]+)` \\| `([^`]+)` \\| (\\d+), (\\d+) \\|$").FindAllStringSubmatch(page(t, "docs/coming-from.md"), -1)
	if len(rows) != 12 {
		t.Errorf("%d jobs", len(rows))
	}
	for _, r := range rows {
		if theirs, ours := strconv.Itoa(len(r[1])), strconv.Itoa(len(r[2])); theirs != r[3] || ours != r[4] {
			t.Errorf("%s: the commands have %s and %s characters", r[0], theirs, ours)
		}
	}
}

// TestDocumentedPrograms checks that the programs in docs/go.md are the examples of package gotap, which go test compiles
// and runs: the same files, with an example function for main.
func TestDocumentedPrograms(t *testing.T) {
	examples, err := filepath.Glob(filepath.Join("..", "..", "example_*test.go"))
	if err != nil || len(examples) == 0 {
		t.Fatalf("%d examples: %v", len(examples), err)
	}
	missing := map[string]string{} // names of examples by their programs
	for _, file := range examples {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		program := strings.Replace(string(text), "package gotap_test\n", "package main\n", 1)
		program = regexp.MustCompile(`(?m)^func Example\w*\(`).ReplaceAllString(program, "func main(")
		missing[program] = filepath.Base(file)
	}
	for _, m := range regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(page(t, "docs/go.md"), -1) {
		if _, ok := missing[m[1]]; !ok {
			t.Errorf("docs/go.md: this program is not an example of package gotap:\n%s", m[1])
		}
		delete(missing, m[1])
	}
	for _, name := range missing {
		t.Errorf("docs/go.md lacks the program of %s", name)
	}
}

// checkText runs `gotap check` on a file with a text, and returns the status and what it wrote to standard error.
func checkText(t *testing.T, name, text string) (status int, errs string) {
	t.Helper()
	dir := t.TempDir()
	file, said := filepath.Join(dir, name), filepath.Join(dir, "errors")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	stderr, err := os.Create(said)
	if err != nil {
		t.Fatal(err)
	}
	defer stderr.Close()
	status = Main(World{Args: []string{"check", file}, Stdin: null, Stdout: null, Stderr: stderr})
	written, _ := os.ReadFile(said)
	return status, string(written)
}
