package main

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gotap/engine/testenv"
	"gotap/engine/testenv/fixture"
)

// It prints nothing: what COMMAND prints would be among the answers.
const questionsTarget = `
#include <stdio.h>
int main(void) { for (int i = 0; i < 3; i++) if (fopen("/nonexistent", "r")) return 1; return 0; }
`

// TestDocumentedQuestions runs the commands that docs/json.md shows for records, and holds their answers against the
// records.
func TestDocumentedQuestions(t *testing.T) {
	testenv.Require(t, testenv.Ptrace, testenv.GCC, testenv.JQ, testenv.SQLite)
	dir := t.TempDir()
	program := filepath.Join(dir, "prog")
	compile := fixture.Command("gcc", "-xc", "-o", program, "-")
	compile.Stdin = strings.NewReader(questionsTarget)
	if out, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	blocks := regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(page(t, recordsPage), -1)
	if len(blocks) != 2 {
		t.Fatalf("the page has %d blocks of commands", len(blocks))
	}
	var answers []string
	for _, block := range blocks {
		cmd := exec.Command("sh", "-eu", "-c", block[1])
		cmd.Dir, cmd.Stderr = dir, os.Stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: %s", err, block[1])
		}
		answers = append(answers, string(out))
	}
	all, failed := opened(t, filepath.Join(dir, "opens.json"))
	if len(all) < 2 || all["/nonexistent"] != 3 || !strings.Contains(failed, "/nonexistent\n") {
		t.Errorf("opens saw %v, and %q failed", all, failed)
	}
	if !strings.HasPrefix(answers[0], failed) || !strings.Contains(answers[0], "\n\"call\",\"calls\",\"total\",\"average\"\n") || !strings.HasSuffix(answers[0], "\n0\n") {
		t.Errorf("jq answers\n%s", answers[0])
	}
	want := ""
	for _, path := range slices.Sorted(maps.Keys(all)) {
		want += path + "|" + strconv.Itoa(all[path]) + "\n"
	}
	if answers[1] != want {
		t.Errorf("sqlite3 answers\n%swant\n%s", answers[1], want)
	}
}

// opened reads how often the files in records of opens were opened, and which could not be.
func opened(t *testing.T, records string) (all map[string]int, failed string) {
	t.Helper()
	data, err := os.ReadFile(records)
	if err != nil {
		t.Fatal(err)
	}
	all = map[string]int{}
	for line := range strings.Lines(string(data)) {
		var r struct {
			Type string
			Data struct {
				Path string
				Ret  int
			}
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		if r.Type != "event" {
			continue
		}
		all[r.Data.Path]++
		if r.Data.Ret < 0 {
			failed += r.Data.Path + "\n"
		}
	}
	return all, failed
}
