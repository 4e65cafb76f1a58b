package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
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
	"gotap/samples"
)

// A recordLayout is the description of records, as the document's tables have it.
type recordLayout struct {
	version string
	types   map[string]map[string]bool // fields by type; true: may be missing
	data    map[string]bool            // fields of a definition's record
	shown   []string                   // the examples
	target  map[string]bool            // fields of a target at the end
}

// recordsPage is the page that describes the records.
const recordsPage = "docs/json.md"

// readLayout reads that page, and nothing else.
func readLayout(t *testing.T) recordLayout {
	t.Helper()
	text := page(t, recordsPage)
	l := recordLayout{types: map[string]map[string]bool{}, data: map[string]bool{}, target: map[string]bool{}}
	version := regexp.MustCompile(`The records are version (\d+)\.`).FindStringSubmatch(text)
	if version == nil {
		t.Fatal("the page has no version")
	}
	l.version = version[1]
	table := ""
	for line := range strings.Lines(text) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		name := strings.TrimSpace(cells[0])
		switch {
		case strings.HasPrefix(line, "{"):
			l.shown = append(l.shown, line)
		case !strings.HasPrefix(line, "|"):
			table = ""
		case table == "":
			table = name
		case strings.HasPrefix(name, "-"):
		case table == "type":
			l.types[name] = map[string]bool{}
			for _, field := range strings.Fields(cells[1]) {
				l.types[name][strings.TrimSuffix(field, "?")] = strings.HasSuffix(field, "?")
			}
		case table == "data", table == "target":
			fields := map[string]map[string]bool{"data": l.data, "target": l.target}[table]
			for _, field := range strings.FieldsFunc(name, func(r rune) bool { return r == ' ' || r == ',' }) {
				fields[strings.TrimSuffix(field, "?")] = strings.HasSuffix(field, "?")
			}
		}
	}
	return l
}

// record checks a record against the tables.
func (l *recordLayout) record(t *testing.T, r map[string]any) {
	t.Helper()
	kind, _ := r["type"].(string)
	if l.types[kind] == nil {
		t.Errorf("type %q is not documented: %v", kind, r)
		return
	}
	check(t, kind, l.types[kind], r)
	switch target, _ := r["target"].(map[string]any); kind {
	case "end":
		if target != nil {
			check(t, "target of the end", l.target, target)
		}
	case "table":
		columns, _ := r["columns"].([]any)
		rows, ok := r["rows"].([]any)
		if len(columns) == 0 || !ok {
			t.Errorf("a table without columns or rows: %v", r)
		}
		for _, row := range rows {
			if cells, _ := row.([]any); len(cells) != len(columns) {
				t.Errorf("a table of %d columns has the row %v", len(columns), row)
			}
		}
	}
}

// TestRecordExamples holds the examples on the page against its tables; there is one of each type.
func TestRecordExamples(t *testing.T) {
	layout, seen := readLayout(t), map[string]bool{}
	for _, text := range layout.shown {
		var r map[string]any
		if err := json.Unmarshal([]byte(text), &r); err != nil {
			t.Errorf("%s%v", text, err)
			continue
		}
		layout.record(t, r)
		seen[r["type"].(string)] = true
	}
	for kind := range layout.types {
		if !seen[kind] {
			t.Errorf("%s has no example of %s", recordsPage, kind)
		}
	}
}

// TestRecordsOfSamples runs every sample that a local program suffices for, and holds what it writes against the page.
// Only the first script that a user reads may print text for people alone.
func TestRecordsOfSamples(t *testing.T) {
	testenv.Require(t, testenv.Ptrace, testenv.GCC)
	dir, layout, tables, ran := t.TempDir(), readLayout(t), 0, 0
	source, err := filepath.Abs("testdata/targets/shop.c")
	if err != nil {
		t.Fatal(err)
	}
	if out, err := fixture.Command("gcc", "-g", "-O1", "-w", "-o", filepath.Join(dir, "shop"), source, "-pthread").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	all, err := samples.All()
	if err != nil {
		t.Fatal(err)
	}
	words := map[string][]string{"hello": {"order"}} // another than the default, which the program does not have
	for _, s := range all {
		if s.Topic == "kernels" || s.Name == "usdt" {
			continue // they need a machine behind a stub, or a program with static marks
		}
		t.Run(s.Name, func(t *testing.T) {
			if s.Name == "varwatch" {
				testenv.Require(t, testenv.Watched)
			}
			cmd := exec.Command("gotap", slices.Concat([]string{"run", "-q", "-f", "json", "-o", "-", "--unsafe", s.Name}, words[s.Name], []string{"--", "./shop"})...)
			cmd.Dir, ran = dir, ran+1
			out, err := cmd.Output()
			var failed *exec.ExitError
			if err != nil && !errors.As(err, &failed) {
				t.Fatal(err)
			}
			lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
			for _, line := range lines {
				var r map[string]any
				if err := json.Unmarshal([]byte(line), &r); err != nil {
					t.Fatalf("%s: %v", line, err)
				}
				layout.record(t, r)
				if r["type"] == "table" {
					tables++
				}
				if r["type"] == "error" && r["severity"] == nil {
					t.Errorf("%s", line)
				}
				if r["type"] == "print" && r["stream"] == nil && s.Name != "hello" {
					t.Errorf("text that is in no record: %s", line)
				}
			}
			if !strings.Contains(lines[len(lines)-1], `"type":"end"`) {
				t.Errorf("the last record is %s", lines[len(lines)-1])
			}
		})
	}
	if ran > 20 && tables < 5 {
		t.Errorf("only %d tables", tables)
	}
}

// check compares a record's fields with the table's: none missing, none more.
func check(t *testing.T, what string, fields map[string]bool, record map[string]any) {
	t.Helper()
	for name, optional := range fields {
		if _, there := record[name]; !there && !optional {
			t.Errorf("%s has no %s: %v", what, name, record)
		}
	}
	for name := range record {
		if _, known := fields[name]; !known && name != "type" {
			t.Errorf("%s has %s, which is not documented: %v", what, name, record)
		}
	}
}

const recordsTarget = `
__attribute__((noipa)) long work(long i) { return i * 2 + 1; }
int main(void) { for (long i = 0; i < 3; i++) work(i); return 0; }
`

const recordsScript = `
const n = count("n"), h = hist("h"), s = avg("s"), st = stats("st"), m = count("m", { keys: 1 }), t = tseries("t");
probe("work", { enter(c) { n.inc(); h.add(c.arg0); s.add(c.arg0); st.add(c.arg0); m.at(c.arg0).inc(); t.inc(); exit({ i: c.arg0, big: 1n << 60n, text: "two" }); } });
probe("work", { enter(c) { log(u8(8)); } });
begin(() => { console.log("begin"); console.error("complaint"); });
end(() => report({ name: "table", columns: ["a", "b"], rows: [[1, "x"], [1n << 60n, null]] }, "as text"));
end(() => { throw new Error("at the end"); });
`

const recordsDefinition = `
name = "target"
major = 7
vars = 1
offset = work
minor = 9
group = 1
type = 2
inc lv,0
push r,rdi
log 1
log lv,0,1
push d,16
push r,rsp
log mrf
exit 3
`

// TestRecordsAsDocumented decodes what a session writes by the tables of the page alone.
func TestRecordsAsDocumented(t *testing.T) {
	testenv.Require(t, testenv.Ptrace, testenv.GCC)
	dir := t.TempDir()
	for name, text := range map[string]string{"target.c": recordsTarget, "all.js": recordsScript, "all.dpdf": recordsDefinition} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	build := fixture.Command("gcc", "-O2", "-o", "target", "target.c")
	build.Dir = dir
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, said)
	}
	layout := readLayout(t)
	seen := map[string]bool{}
	for _, script := range []string{"all.js", "all.dpdf"} {
		for _, r := range sessionRecords(t, dir, script) {
			kind, _ := r["type"].(string)
			seen[kind] = true
			layout.record(t, r)
			if script == "all.dpdf" && kind == "event" {
				checkDefinitionRecord(t, layout, r["data"].(map[string]any))
			}
		}
	}
	for kind := range layout.types {
		if !seen[kind] {
			t.Errorf("no record of type %s was seen", kind)
		}
	}
}

// sessionRecords runs a script with --log json and decodes the file.
func sessionRecords(t *testing.T, dir, script string) (records []map[string]any) {
	t.Helper()
	path := filepath.Join(dir, script+".json")
	// TestMain put this test binary into the path under that name.
	cmd := exec.Command("gotap", "run", "-q", "-o", os.DevNull, "--log", "json:"+path, script, "--", "./target")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	f, opened := os.Open(path)
	if opened != nil {
		t.Fatalf("%v: %v\n%s", opened, err, out)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var r map[string]any
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatalf("%s: %v", lines.Text(), err)
		}
		records = append(records, r)
	}
	// Before ready there may be prints and errors, and nothing behind end.
	first := slices.IndexFunc(records, func(r map[string]any) bool { return r["type"] != "print" && r["type"] != "error" })
	n := len(records)
	if first < 0 || records[first]["type"] != "ready" || fmt.Sprint(records[first]["version"]) != readLayout(t).version || records[n-1]["type"] != "end" {
		t.Errorf("the records of %s begin and end otherwise: %v\n%s", script, records, out)
	}
	return records
}

func checkDefinitionRecord(t *testing.T, l recordLayout, data map[string]any) {
	t.Helper()
	check(t, "data of a definition's event", l.data, data)
	log, _ := data["log"].([]any)
	if data["major"] != 7.0 || data["minor"] != 9.0 || data["group"] != 1.0 || data["type"] != 2.0 || data["facility"] != 3.0 || len(log) != 3 {
		t.Fatalf("%v", data)
	}
	// "words as 0x…, variables as lv[N]=0x…, ranges of memory as hexadecimal digits"
	var forms []bool
	for i, form := range []string{`^0x[0-9a-f]+$`, `^lv\[0\]=0x[1-3]$`, `^[0-9a-f]{32}$`} {
		forms = append(forms, regexp.MustCompile(form).MatchString(log[i].(string)))
	}
	if slices.Contains(forms, false) {
		t.Errorf("log is %v", log)
	}
	if _, err := strconv.ParseUint(log[0].(string), 0, 64); err != nil {
		t.Errorf("%v", err)
	}
}
